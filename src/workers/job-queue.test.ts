import { expect, test } from 'vitest'
import { Postgres } from '../../test/postgres/server.ts'
import { PostgresAddress } from '../store/postgres/address.ts'
import { Database } from '../store/postgres/database.ts'
import { JobQueue } from './job-queue.ts'
import { migrateWork } from './tables.ts'

test('a job lost on its way to a worker is delivered again', async () => {
  const postgres = await Postgres.start()
  try {
    const address = new PostgresAddress(await postgres.database())
    const database = await Database.open(address, { statementMs: 500 })
    await migrateWork(database)
    const queue = await JobQueue.open(database, 2)
    const arrived = Promise.withResolvers<unknown>()
    await database.query("SELECT graphile_worker.add_job('magic test', '{\"number\": 1}'::json)")
    // The connection broke after the job was locked, so nobody received it.
    await database.query('UPDATE graphile_worker._private_jobs SET locked_by = $1, locked_at = now()', [
      queue.id,
    ])
    queue.take('magic test', async (payload) => arrived.resolve(payload))
    expect(await arrived.promise).toEqual({ number: 1 })
    await queue.drain(1000, new AbortController().signal)
    await database.close()
  } finally {
    await postgres.stop()
  }
})
