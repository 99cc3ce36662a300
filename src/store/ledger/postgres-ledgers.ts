import type { Database } from '../postgres/database.ts'
import { LedgerError } from './ledger-error.ts'
import { tableNames } from './ledger-rows.ts'

/** A ledger on a PostgreSQL, for display. */
export interface ListedLedger {
  readonly name: string
  readonly title: string
  readonly createdAt: string
  readonly evaluations: number
  readonly replies: number
}

/** All ledgers of a database, newest first. */
export function listLedgers(database: Database, name?: string): Promise<ListedLedger[]> {
  return database.query<ListedLedger>(
    `SELECT name::text, title, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "createdAt",
            (SELECT count(*) FROM magic.evaluations WHERE ledger = ledgers.id) AS evaluations,
            (SELECT count(*) FROM magic.replies WHERE ledger = ledgers.id) AS replies
     FROM magic.ledgers WHERE $1::text IS NULL OR name::text = $1 ORDER BY created_at DESC, id DESC`,
    [name ?? null],
  )
}

/**
 * Deletes a ledger with its rows and its account, and returns its description. Rows go in batches: one statement for millions
 * of them would take longer than any statement may. If interrupted, it can be repeated.
 */
export async function removeLedger(database: Database, name: string, batch = 10_000): Promise<ListedLedger> {
  const [found] = await listLedgers(database, name)
  if (found === undefined) throw new LedgerError(`There is no ledger '${name}' at ${database.address.place}.`)
  for (const table of tableNames)
    for (let isMore = true; isMore; ) {
      const rows = await database.query(
        `DELETE FROM magic.${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM magic.${table} WHERE ledger = (SELECT id FROM magic.ledgers WHERE name::text = $1) LIMIT $2))
         RETURNING 1`,
        [name, batch],
      )
      isMore = rows.length > 0
    }
  for (const [table, column] of [
    ['reservations', 'account'],
    ['accounts', 'name'],
  ])
    await database.query(
      `DELETE FROM magic.${table} WHERE ${column} = $1 OR ${column} LIKE $1 || ' search %'`,
      [name],
    )
  await database.query('DELETE FROM magic.ledgers WHERE name::text = $1', [name])
  return found
}
