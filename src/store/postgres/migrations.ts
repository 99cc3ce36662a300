import { LedgerError } from '../ledger/ledger-error.ts'
import { allowanceTables } from './allowance-tables.ts'
import type { Database } from './database.ts'

/** Any number, as long as nobody else locks it. */
const lockNumber = 7_302_118_225

/** What brings the tables from each version to the next. Those that are published are never changed, only followed by others. */
const migrations: readonly string[] = [
  `CREATE TABLE magic.ledgers (
     id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name uuid NOT NULL UNIQUE,
     title text NOT NULL, -- for people: the run's name when it began
     created_at timestamptz NOT NULL DEFAULT now()
   );
   -- In all of these, texts are written as inside of a JSON string, since PostgreSQL has no text with a zero character; and a
   -- row does not refer to its ledger's, which every insert would have to look up.
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
   -- For the sum over all: it is read instead of the replies.
   CREATE INDEX reply_usage ON magic.replies (ledger) INCLUDE (input, cached_input, output);
   CREATE TABLE magic.observations (
     ledger integer NOT NULL,
     digest text COLLATE "C" NOT NULL,
     observation text NOT NULL, -- JSON
     crc bigint NOT NULL,
     PRIMARY KEY (ledger, digest)
   );`,
  allowanceTables,
]

/**
 * Makes our tables, or brings them up to date, once: of many processes that start together one does it and the others wait.
 * A newer version's tables are refused.
 */
export async function migrate(database: Database): Promise<void> {
  const found = await versionOf(database)
  if (found > migrations.length)
    throw new LedgerError(
      `The ledger at ${database.address.place} has version ${found}; this version of magic knows ${migrations.length}. Use the version that wrote it, or a newer one.`,
    )
  if (found === migrations.length) return
  // One statement list is one transaction: it holds the lock until all of it is there or nothing. Each step looks again, because
  // somebody else may have gone before.
  await database.query(
    [
      `SELECT pg_advisory_xact_lock(${lockNumber});`,
      'CREATE SCHEMA IF NOT EXISTS magic;',
      'CREATE TABLE IF NOT EXISTS magic.migrations (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());',
      ...migrations.map(
        (text, index) => `DO $migration$ BEGIN
          IF NOT EXISTS (SELECT FROM magic.migrations WHERE version = ${index + 1}) THEN
            ${text}
            INSERT INTO magic.migrations (version) VALUES (${index + 1});
          END IF;
        END $migration$;`,
      ),
    ].join('\n'),
  )
}

/** 0 where nothing of ours is there yet. */
async function versionOf(database: Database): Promise<number> {
  const [table] = await database.query<{ there: boolean }>(
    "SELECT to_regclass('magic.migrations') IS NOT NULL AS there",
  )
  if (table?.there !== true) return 0
  const [row] = await database.query<{ version: number }>(
    'SELECT coalesce(max(version), 0) AS version FROM magic.migrations',
  )
  return row!.version
}
