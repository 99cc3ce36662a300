import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { writeWhole } from './durable-file.ts'
import type { Ledger } from './ledger/ledger.ts'
import { PostgresLedger } from './ledger/postgres.ts'
import { SqliteLedger } from './ledger/sqlite.ts'
import { givenAddress, type PostgresAddress } from './postgres/address.ts'
import { Database } from './postgres/database.ts'
import { RunError, type RunFolder } from './run-folder.ts'

// A run's ledger lies in its folder, or on a PostgreSQL. Then `ledger.json` says which one of that it is; where the PostgreSQL is,
// and how to get in, only the environment says, so that a folder can be shown to anybody.

const placeSchema = z.object({ format: z.literal('magic-ledger-1'), postgres: z.uuid() })

/** Somebody looks at it and waits; who writes has more to lose. */
const readersPatienceMs = 10_000

/** A run's ledger there: the name that `ledger.json` has for it. */
export interface LedgerPlace {
  readonly address: PostgresAddress
  readonly name: string
}

export interface RunLedgerOptions {
  readonly readOnly?: boolean
  /** `MAGIC_LEDGER` by default. */
  readonly address?: PostgresAddress
}

export function hasLedger({ ledgerFile, ledgerPlaceFile }: RunFolder): boolean {
  return existsSync(ledgerPlaceFile) || existsSync(ledgerFile)
}

/** Opens a run's ledger where it is; one in the folder is made if it is not there. */
export async function openRunLedger(folder: RunFolder, options: RunLedgerOptions = {}): Promise<Ledger> {
  const { readOnly } = options
  const place = ledgerPlace(folder, options.address)
  if (place === undefined) return await SqliteLedger.open(folder.ledgerFile, { readOnly })
  return await openPlacedLedger(place, readOnly)
}

export async function openPlacedLedger({ address, name }: LedgerPlace, readOnly = false): Promise<Ledger> {
  const database = await Database.open(address, { patienceMs: readOnly ? readersPatienceMs : undefined })
  try {
    return await PostgresLedger.open(database, { name, readOnly, onClose: () => database.close() })
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Where a run's ledger is if not in its folder. */
export function ledgerPlace(
  { path, ledgerPlaceFile }: RunFolder,
  address: PostgresAddress | undefined = givenAddress(),
): LedgerPlace | undefined {
  if (!existsSync(ledgerPlaceFile)) return undefined
  const name = readPlace(ledgerPlaceFile)
  if (address !== undefined) return { address, name }
  throw new RunError(
    `The ledger of the run ${basename(path)} is on a PostgreSQL, not in its folder. Set MAGIC_LEDGER to the address: postgres://user:password@host:5432/database.`,
  )
}

/** Decides where a new run's ledger is: on a PostgreSQL where an address is given. What a run killed at its start left stays. */
export async function placeLedger(folder: RunFolder, address: PostgresAddress | undefined): Promise<void> {
  const { ledgerPlaceFile } = folder
  if (address === undefined) rmSync(ledgerPlaceFile, { force: true })
  else if (!existsSync(ledgerPlaceFile)) {
    const name = await makeLedger(address, basename(folder.path))
    writePlace(ledgerPlaceFile, name)
  }
}

/** Makes an empty ledger on a PostgreSQL and gives its name. */
export async function makeLedger(address: PostgresAddress, title: string): Promise<string> {
  const name = randomUUID()
  const database = await Database.open(address)
  try {
    await PostgresLedger.create(database, name, title)
    return name
  } finally {
    await database.close()
  }
}

export function writePlace(file: string, name: string): void {
  writeWhole(file, `${JSON.stringify({ format: 'magic-ledger-1', postgres: name }, null, 2)}\n`)
}

export function readPlace(file: string): string {
  try {
    return placeSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).postgres
  } catch (error) {
    throw new RunError(`${file} is damaged or of another version. Put a copy of it in its place.`, {
      cause: error,
    })
  }
}
