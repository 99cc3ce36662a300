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

/** Deletes a ledger with all its rows and returns its description. */
export async function removeLedger(database: Database, name: string): Promise<ListedLedger> {
  const [found] = await listLedgers(database, name)
  if (found === undefined) throw new LedgerError(`There is no ledger '${name}' at ${database.address.place}.`)
  const tables = tableNames.map(
    (table) => `${table}_gone AS (DELETE FROM magic.${table} USING gone WHERE ledger = gone.id)`,
  )
  await database.query(
    `WITH gone AS (DELETE FROM magic.ledgers WHERE name::text = $1 RETURNING id), ${tables.join(', ')} SELECT`,
    [name],
  )
  return found
}
