import { LedgerError } from '../ledger/ledger-error.ts'
import { allowanceRules, allowanceTables } from './allowance-tables.ts'
import type { Database } from './database.ts'

/** Each step takes the tables from one version to the next. A published step is never changed; add another after it. */
const migrations: readonly string[] = [
  `CREATE TABLE magic.ledgers (
     id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name uuid NOT NULL UNIQUE,
     title text NOT NULL, -- for display: the run's name when it began
     created_at timestamptz NOT NULL DEFAULT now()
   );
   -- PostgreSQL texts cannot contain zero characters, so all texts are JSON-escaped. Rows have no foreign key to their
   -- ledger, because every insert would have to check it.
   CREATE TABLE magic.executions (
     ledger integer NOT NULL,
     id text COLLATE "C" NOT NULL,
     trace bytea NOT NULL, -- JSON, compressed with zstd where that is shorter
     crc bigint NOT NULL,
     PRIMARY KEY (ledger, id)
   );
   ALTER TABLE magic.executions ALTER trace SET STORAGE EXTERNAL;
   CREATE SEQUENCE magic.places;
   CREATE TABLE magic.evaluations (
     ledger integer NOT NULL,
     key bytea NOT NULL, -- digest of graph, task, data version and executor
     place bigint NOT NULL,
     graph text COLLATE "C" NOT NULL,
     task text COLLATE "C" NOT NULL,
     data_version text COLLATE "C" NOT NULL,
     executor text COLLATE "C" NOT NULL,
     score double precision NOT NULL,
     status text COLLATE "C" NOT NULL,
     execution text COLLATE "C" NOT NULL,
     detail text NOT NULL, -- JSON: answer, failures, usage, cost
     crc bigint NOT NULL,
     PRIMARY KEY (ledger, key)
   );
   CREATE INDEX evaluations_in_order ON magic.evaluations (ledger, place);
   CREATE INDEX evaluations_by_task ON magic.evaluations (ledger, task);
   CREATE TABLE magic.replies (
     ledger integer NOT NULL,
     digest text COLLATE "C" NOT NULL,
     reply text NOT NULL, -- JSON
     crc bigint NOT NULL,
     input bigint, -- tokens; null where the server told none
     cached_input bigint,
     output bigint,
     PRIMARY KEY (ledger, digest)
   );
   -- Sums over all replies read only this index.
   CREATE INDEX reply_usage ON magic.replies (ledger) INCLUDE (input, cached_input, output);
   CREATE TABLE magic.observations (
     ledger integer NOT NULL,
     digest text COLLATE "C" NOT NULL,
     observation text NOT NULL, -- JSON
     crc bigint NOT NULL,
     PRIMARY KEY (ledger, digest)
   );`,
  allowanceTables,
  allowanceRules,
]

/** Creates or updates the tables of ledgers and budgets. */
export function migrate(database: Database): Promise<void> {
  return migrateSchema(database, 'magic', migrations)
}

/**
 * Updates one of our schemas to its newest version. If many processes start together, one does it and the others wait.
 * Throws if a newer version of magic wrote the schema.
 */
export async function migrateSchema(
  database: Database,
  schema: string,
  steps: readonly string[],
): Promise<void> {
  const found = await versionOf(database, schema)
  if (found > steps.length)
    throw new LedgerError(
      `The schema '${schema}' at ${database.address.place} has version ${found}; this version of magic knows ${steps.length}. Use the version that wrote it, or a newer one.`,
    )
  if (found === steps.length) return
  // A list of statements is one transaction. It starts only once the lock is held; otherwise PostgreSQL would see the schema
  // as it was before the wait. Each step checks whether it is needed, because another process may have been faster.
  const statements = [
    `CREATE SCHEMA IF NOT EXISTS ${schema};`,
    `CREATE TABLE IF NOT EXISTS ${schema}.migrations (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());`,
    ...steps.map(
      (text, index) => `DO $migration$ BEGIN
        IF NOT EXISTS (SELECT FROM ${schema}.migrations WHERE version = ${index + 1}) THEN
          ${text}
          INSERT INTO ${schema}.migrations (version) VALUES (${index + 1});
        END IF;
      END $migration$;`,
    ),
  ]
  await database.alone(schema, (client) => client.query(statements.join('\n')))
}

/** 0 if the schema does not exist yet. */
async function versionOf(database: Database, schema: string): Promise<number> {
  const [table] = await database.query<{ there: boolean }>(
    `SELECT to_regclass('${schema}.migrations') IS NOT NULL AS there`,
  )
  if (table?.there !== true) return 0
  const [row] = await database.query<{ version: number }>(
    `SELECT coalesce(max(version), 0) AS version FROM ${schema}.migrations`,
  )
  return row!.version
}
