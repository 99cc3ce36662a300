import { existsSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { syncFolder } from './durable-file.ts'
import { type CopyOptions, copyLedger, type LedgerDigest } from './ledger/copy-ledger.ts'
import { SqliteLedger } from './ledger/sqlite.ts'
import type { PostgresAddress } from './postgres/address.ts'
import { RunError, type RunFolder } from './run-folder.ts'
import { hasLedger, ledgerPlace, makeLedger, openPlacedLedger, readPlace, writePlace } from './run-ledger.ts'
import { RunLock } from './run-lock.ts'

/** Where a run's ledger is: in its folder, or on the PostgreSQL at an address. */
export type LedgerHome = 'sqlite' | PostgresAddress

/**
 * Copies a run's ledger to a new home, compares it, and then switches the run to the copy. If interrupted, it can be
 * repeated, and the run keeps using the original. The original is not deleted.
 */
export async function moveLedger(
  folder: RunFolder,
  home: LedgerHome,
  options: CopyOptions = {},
): Promise<LedgerDigest> {
  if (!hasLedger(folder))
    throw new RunError(`The run ${folder.path} has no ledger yet: there is nothing to copy.`)
  using _ = await RunLock.acquire(folder.path)
  return home === 'sqlite' ? await moveHere(folder, options) : await moveAway(folder, home, options)
}

async function moveAway(
  folder: RunFolder,
  address: PostgresAddress,
  options: CopyOptions,
): Promise<LedgerDigest> {
  if (existsSync(folder.ledgerPlaceFile))
    throw new RunError(
      `The ledger of ${basename(folder.path)} is already on a PostgreSQL. To move it to another one, copy it to sqlite first.`,
    )
  // Under a temporary name until it is complete.
  const unfinished = join(folder.path, 'ledger.copy.json')
  const begun = existsSync(unfinished) ? readPlace(unfinished) : undefined
  // If the copy was begun on another PostgreSQL, it starts anew on this one.
  const name = await makeLedger(address, basename(folder.path), begun)
  if (begun === undefined) writePlace(unfinished, name)
  await using from = await SqliteLedger.open(folder.ledgerFile, { readOnly: true })
  await using to = await openPlacedLedger({ address, name })
  const copied = await copyLedger(from, to, options)
  renameSync(unfinished, folder.ledgerPlaceFile)
  syncFolder(folder.path)
  return copied
}

async function moveHere(folder: RunFolder, options: CopyOptions): Promise<LedgerDigest> {
  const place = ledgerPlace(folder)
  if (place === undefined)
    throw new RunError(`The ledger of ${basename(folder.path)} is already in its folder.`)
  await using from = await openPlacedLedger(place, true)
  await using to = await SqliteLedger.open(folder.ledgerFile)
  const copied = await copyLedger(from, to, options)
  rmSync(folder.ledgerPlaceFile)
  syncFolder(folder.path)
  return copied
}
