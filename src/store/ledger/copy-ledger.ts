import { hash } from 'node:crypto'
import type { Ledger } from './ledger.ts'
import { LedgerError } from './ledger-error.ts'
import { isWhole, type LedgerTables, rowDigest, type TableName, tableNames } from './ledger-rows.ts'

const pageSize = 512

/** Number of rows of a table and a digest of all of them. */
export interface TableDigest {
  readonly rows: number
  readonly sha256: string
}

export type LedgerDigest = Readonly<Record<TableName, TableDigest>>

export interface CopyOptions {
  /** Called with the rows copied (or already there) so far, then with those compared, and the approximate total. */
  readonly onProgress?: (phase: 'copying' | 'comparing', rows: number, total: number) => void
  readonly signal?: AbortSignal
}

/**
 * Copies a ledger into another one and compares both row by row. Returns their digest. An interrupted copy continues
 * where it stopped. Nobody may write meanwhile.
 */
export async function copyLedger(
  from: Ledger,
  to: Ledger,
  { onProgress, signal }: CopyOptions = {},
): Promise<LedgerDigest> {
  const { evaluations, replies, traces } = await from.size()
  const total = evaluations + replies + traces
  let copied = 0
  for (const table of tableNames)
    for await (const rows of newRows(from, to, table, signal)) {
      await to.takeOver(table, rows.fresh)
      copied += rows.all
      onProgress?.('copying', copied, Math.max(copied, total))
    }
  let compared = 0
  const told = (rows: number) => {
    compared += rows
    onProgress?.('comparing', compared, Math.max(compared, total))
  }
  const original = await ledgerDigest(from, told, signal)
  const copy = await ledgerDigest(to, undefined, signal)
  const other = tableNames.find((table) => original[table].sha256 !== copy[table].sha256)
  if (other === undefined) return copy
  throw new LedgerError(
    `The copy differs from the ledger: '${other}' has ${original[other].rows} rows, the copy ${copy[other].rows}, or some rows differ. Copy into an empty ledger while nobody writes.`,
  )
}

/** The rows of a table in pages, and those the copy lacks. What it already has is usually the beginning. */
async function* newRows<Table extends TableName>(
  from: Ledger,
  to: Ledger,
  table: Table,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ all: number; fresh: readonly LedgerTables[Table][] }> {
  let isThere = true
  let here: string | undefined
  let there: string | undefined
  do {
    signal?.throwIfAborted()
    const page = await from.page(table, here, pageSize)
    assertWhole(table, page.rows)
    if (isThere) {
      const twin = await to.page(table, there, pageSize)
      isThere = pageDigest(twin.rows) === pageDigest(page.rows)
      there = twin.next
    }
    yield { all: page.rows.length, fresh: isThere ? [] : page.rows }
    here = page.next
  } while (here !== undefined)
}

/** A digest per table, independent of row order, since stores sort differently. For evaluations, the order counts. */
export async function ledgerDigest(
  ledger: Ledger,
  onRows?: (rows: number) => void,
  signal?: AbortSignal,
): Promise<LedgerDigest> {
  const digests: Partial<Record<TableName, TableDigest>> = {}
  for (const table of tableNames) {
    const sum = Buffer.alloc(32)
    let order = ''
    let rows = 0
    let after: string | undefined
    do {
      signal?.throwIfAborted()
      const page = await ledger.page(table, after, pageSize)
      assertWhole(table, page.rows)
      for (const row of page.rows) for (const [index, byte] of rowDigest(row).entries()) sum[index]! ^= byte
      if (table === 'evaluations') order = hash('sha256', `${order}${pageDigest(page.rows)}`)
      rows += page.rows.length
      onRows?.(page.rows.length)
      after = page.next
    } while (after !== undefined)
    digests[table] = { rows, sha256: hash('sha256', `${rows} ${sum.toString('hex')} ${order}`) }
  }
  return digests as LedgerDigest
}

function pageDigest(rows: readonly LedgerTables[TableName][]): string {
  return hash('sha256', Buffer.concat(rows.map(rowDigest)))
}

function assertWhole(table: TableName, rows: readonly LedgerTables[TableName][]): void {
  if (rows.every(isWhole)) return
  throw new LedgerError(`A row of '${table}' is damaged, so the ledger was not copied.`)
}
