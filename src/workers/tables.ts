import type { Logger } from 'graphile-worker'
import { requirePackage } from '../optional-package.ts'
import type { Database } from '../store/postgres/database.ts'

/** Graphile Worker, which hands out the jobs, with a logger that says nothing: what matters to a person is told by us. */
export async function openQueue(): Promise<typeof import('graphile-worker') & { readonly silent: Logger }> {
  const queue = await requirePackage(
    'Working with others',
    ['graphile-worker'],
    () => import('graphile-worker'),
  )
  return { ...queue, silent: new queue.Logger(() => () => {}) }
}

/**
 * Beside Graphile Worker's own tables. `workers`: a row is a lease, and its id the fencing token: who has no row any more may
 * not write. `claims`: who makes a call that several need. `assignments`: what is to be run, and until when somebody wants it.
 */
const tables = `
CREATE SCHEMA IF NOT EXISTS magic_work;
CREATE TABLE IF NOT EXISTS magic_work.workers (
  id text PRIMARY KEY,
  name text NOT NULL,
  process integer NOT NULL,
  version text NOT NULL,
  calls integer NOT NULL,
  leased_until timestamptz NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  draining boolean NOT NULL DEFAULT false,
  running integer NOT NULL DEFAULT 0,
  done bigint NOT NULL DEFAULT 0,
  rate real NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS magic_work.claims (
  name text PRIMARY KEY,
  worker text NOT NULL
);
CREATE INDEX IF NOT EXISTS claims_worker ON magic_work.claims (worker);
CREATE TABLE IF NOT EXISTS magic_work.content (
  digest text PRIMARY KEY,
  bytes bytea NOT NULL
);
CREATE TABLE IF NOT EXISTS magic_work.assignments (
  digest text PRIMARY KEY,
  wanted_until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS magic_work.refusals (
  assignment text NOT NULL,
  worker text NOT NULL,
  reason text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (assignment, worker)
);
CREATE TABLE IF NOT EXISTS magic_work.results (
  name text NOT NULL,
  submission text NOT NULL,
  worker text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  made jsonb,
  problem jsonb,
  PRIMARY KEY (name, submission)
);
CREATE INDEX IF NOT EXISTS results_at ON magic_work.results (at);
`

/** Makes the tables of queue and workers where they are not there yet. Of many who start together one does it, the others wait. */
export async function migrateWork(database: Database): Promise<void> {
  const client = await database.pool.connect()
  try {
    await client.query(`SELECT pg_advisory_lock(hashtext('magic_work'))`)
    const { rows } = await client.query(`SELECT to_regclass('magic_work.results_at') AS made`)
    if (rows[0].made === null) await client.query(tables)
    const { runMigrations, silent } = await openQueue()
    await runMigrations({ pgPool: database.pool, logger: silent })
  } finally {
    // With the connection the lock ends, too.
    client.release(true)
  }
}
