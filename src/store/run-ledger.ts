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

// A run's ledger is in its folder or on a PostgreSQL. In the latter case `ledger.json` has the ledger's name there.
// Address and credentials come only from the environment, so a folder can be shared safely.

const placeSchema = z.object({ format: z.literal('magic-ledger-1'), postgres: z.uuid() })

/** Shorter than for writers, because a user is waiting for the output. */
export const readersPatienceMs = 10_000

/** A ledger on a PostgreSQL, by the name in `ledger.json`. */
export interface LedgerPlace {
  readonly address: PostgresAddress
  readonly name: string
}

export interface RunLedgerOptions {
  readonly readOnly?: boolean
  /** Default: `MAGIC_LEDGER`. */
  readonly address?: PostgresAddress
}

export function hasLedger({ ledgerFile, ledgerPlaceFile }: RunFolder): boolean {
  return existsSync(ledgerPlaceFile) || existsSync(ledgerFile)
}

/** Opens a run's ledger. One in the folder is created if missing. */
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

/** The place of a run's ledger on a PostgreSQL; undefined if it is in the run's folder. */
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

/** Places a new run's ledger on PostgreSQL if an address is given. Reuses what a run killed at its start left. */
export async function placeLedger(folder: RunFolder, address: PostgresAddress | undefined): Promise<void> {
  const { ledgerPlaceFile } = folder
  if (address === undefined) rmSync(ledgerPlaceFile, { force: true })
  else if (!existsSync(ledgerPlaceFile)) {
    const name = await makeLedger(address, basename(folder.path))
    writePlace(ledgerPlaceFile, name)
  }
}

/** Creates an empty ledger on a PostgreSQL, unless it is there, and returns its name. */
export async function makeLedger(
  address: PostgresAddress,
  title: string,
  name: string = randomUUID(),
): Promise<string> {
  await using database = await Database.open(address)
  await PostgresLedger.create(database, name, title)
  return name
}

export function writePlace(file: string, name: string): void {
  writeWhole(file, `${JSON.stringify({ format: 'magic-ledger-1', postgres: name }, null, 2)}\n`)
}

export function readPlace(file: string): string {
  try {
    return placeSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).postgres
  } catch (error) {
    throw new RunError(`${file} is damaged or of another version. Restore it from a copy.`, {
      cause: error,
    })
  }
}
