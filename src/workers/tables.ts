import type { Logger } from 'graphile-worker'
import { requirePackage } from '../optional-package.ts'
import type { Database } from '../store/postgres/database.ts'
import { migrateSchema } from '../store/postgres/migrations.ts'

/** Graphile Worker, which distributes the jobs. Its logger is silent: we report what the user needs to know. */
export async function openQueue(): Promise<typeof import('graphile-worker') & { readonly silent: Logger }> {
  const queue = await requirePackage(
    'Sharing work between processes',
    ['graphile-worker'],
    () => import('graphile-worker'),
  )
  return { ...queue, silent: new queue.Logger(() => () => {}) }
}

/** Leases are checked every 1/n of a lease; time beyond that does not count. Workers check twice as often. */
export const unwatchedShare = 4

/** Migrations of the schema `magic_work`. Graphile Worker has its own schema. */
const steps: readonly string[] = [
  `-- Each row is a lease; its id is the fencing token. Without a row, a worker may not write.
   CREATE TABLE magic_work.workers (
     id text PRIMARY KEY,
     name text NOT NULL,
     process integer NOT NULL,
     version text NOT NULL,
     calls integer NOT NULL,
     lease interval NOT NULL,
     leased_until timestamptz NOT NULL,
     since timestamptz NOT NULL DEFAULT now(),
     draining boolean NOT NULL DEFAULT false,
     done bigint NOT NULL DEFAULT 0,
     rate real NOT NULL DEFAULT 0
   );
   -- When expired leases were last looked for. One row.
   CREATE TABLE magic_work.watch (at timestamptz NOT NULL);
   INSERT INTO magic_work.watch VALUES (now());
   -- Which worker makes a call that several evaluations need.
   CREATE TABLE magic_work.claims (
     name text PRIMARY KEY,
     worker text NOT NULL
   );
   CREATE INDEX claims_worker ON magic_work.claims (worker);
   CREATE TABLE magic_work.content (
     digest text PRIMARY KEY,
     bytes bytea NOT NULL
   );
   -- What workers should open, and how long a trainer wants it.
   CREATE TABLE magic_work.assignments (
     digest text PRIMARY KEY,
     wanted_until timestamptz NOT NULL
   );
   CREATE TABLE magic_work.refusals (
     assignment text NOT NULL,
     worker text NOT NULL,
     reason text NOT NULL,
     at timestamptz NOT NULL DEFAULT now(),
     PRIMARY KEY (assignment, worker)
   );
   CREATE TABLE magic_work.results (
     name text NOT NULL,
     submission text NOT NULL,
     worker text NOT NULL,
     at timestamptz NOT NULL DEFAULT now(),
     made jsonb,
     problem jsonb,
     PRIMARY KEY (name, submission)
   );
   CREATE INDEX results_at ON magic_work.results (at);

   -- Ends leases and frees their work. Waits for a worker that is just writing a result. Frees every job without a lease,
   -- because a worker may have taken another job before it noticed that its lease was gone.
   CREATE FUNCTION magic_work.end_leases(ids text[]) RETURNS void LANGUAGE plpgsql AS $function$
   DECLARE
     jobs bigint;
     claims bigint;
   BEGIN
     DELETE FROM magic_work.workers WHERE id = ANY (ids);
     DELETE FROM magic_work.claims WHERE worker = ANY (ids);
     GET DIAGNOSTICS claims = ROW_COUNT;
     UPDATE graphile_worker._private_jobs SET locked_by = NULL, locked_at = NULL
     WHERE locked_by IS NOT NULL AND locked_by NOT IN (SELECT id FROM magic_work.workers)
       AND task_id IN (SELECT id FROM graphile_worker._private_tasks WHERE identifier LIKE 'magic %');
     GET DIAGNOSTICS jobs = ROW_COUNT;
     IF jobs > 0 THEN PERFORM pg_notify('jobs:insert', json_build_object('count', jobs)::text); END IF;
     IF jobs + claims > 0 THEN PERFORM pg_notify('magic_claims', ''); END IF;
   END
   $function$;

   -- Ends expired leases. Time during which the database was down does not count, because nobody could renew a lease then.
   -- Setting the clock does not end a lease either.
   CREATE FUNCTION magic_work.end_expired_leases() RETURNS void LANGUAGE plpgsql AS $function$
   DECLARE
     moment timestamptz;
     seen timestamptz;
   BEGIN
     SELECT at INTO STRICT seen FROM magic_work.watch FOR UPDATE;
     moment := clock_timestamp();
     UPDATE magic_work.watch SET at = moment;
     IF moment < seen OR pg_postmaster_start_time() > seen THEN
       UPDATE magic_work.workers SET leased_until = moment + lease;
     ELSE
       UPDATE magic_work.workers SET leased_until = least(moment + lease, leased_until + (moment - seen - lease / ${unwatchedShare}))
       WHERE moment - seen > lease / ${unwatchedShare};
     END IF;
     PERFORM magic_work.end_leases(ARRAY(SELECT id FROM magic_work.workers WHERE leased_until < moment FOR UPDATE));
   END
   $function$;`,
]

/** Creates or updates the tables of queue and workers. If many processes start together, one does it and the others wait. */
export async function migrateWork(database: Database): Promise<void> {
  await migrateSchema(database, 'magic_work', steps)
  const { runMigrations, silent } = await openQueue()
  await database.alone('graphile_worker', () => runMigrations({ pgPool: database.pool, logger: silent }))
}
