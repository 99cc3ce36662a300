import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SilentProxy } from '../../test/postgres/proxy.ts'
import { Postgres } from '../../test/postgres/server.ts'
import { exitCode } from '../problem.ts'
import { LeaseLost } from '../store/ledger/postgres.ts'
import { PostgresAddress } from '../store/postgres/address.ts'
import { Database } from '../store/postgres/database.ts'
import { endExpiredLeases, Lease } from './lease.ts'
import { migrateWork } from './tables.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(() => postgres.stop())

const leaseMs = 1500

/** A lease behind a network that can go silent, and another connection that does not. */
async function cutOff(patienceMs = 60_000) {
  const address = await postgres.database()
  const other = await Database.open(new PostgresAddress(address))
  await migrateWork(other)
  const proxy = await SilentProxy.start(postgres.port)
  const database = await Database.open(new PostgresAddress(proxy.through(address)), { patienceMs })
  const facts = { id: 'ours', name: 'worker', version: '1', calls: 4 }
  const lease = await Lease.take(database, facts, leaseMs)
  const isThere = async () =>
    (await other.query("SELECT FROM magic_work.workers WHERE id = 'ours'")).length === 1
  return {
    ...{ other, proxy, lease, isThere },
    async [Symbol.asyncDispose]() {
      proxy.mend()
      await lease.end()
      await Promise.all([database.close(), other.close()])
      await proxy.stop()
    },
  }
}

/** Whether it is still pending after this long. */
async function staysOpen(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const ended = promise.then(
    () => false,
    () => false,
  )
  return await Promise.race([ended, sleep(ms, true)])
}

test('a worker cut off longer than its lease makes no calls, and keeps the lease if nobody ended it', async () => {
  await using there = await cutOff()
  const { lease, proxy } = there
  await lease.held()
  proxy.silence()
  await sleep(leaseMs)
  const held = lease.held()
  expect(await staysOpen(held, leaseMs)).toBe(true)
  proxy.mend()
  await held
  expect(lease.lost.aborted).toBe(false)
})

test('others end the lease of a worker that is cut off, and it makes no further calls', async () => {
  await using there = await cutOff()
  const { lease, proxy, other, isThere } = there
  proxy.silence()
  while (await isThere()) {
    await endExpiredLeases(other)
    await sleep(50)
  }
  const held = lease.held()
  expect(await staysOpen(held, 200)).toBe(true)
  proxy.mend()
  await expect(held).rejects.toThrow(LeaseLost)
  expect(lease.lost.reason).toBeInstanceOf(LeaseLost)
})

test('a lease does not expire while the database is down, unwatched, or its clock is changed', async () => {
  const database = await Database.open(new PostgresAddress(await postgres.database()))
  await migrateWork(database)
  const left = async () => {
    const [row] = await database.query<{ left: number }>(
      'SELECT extract(epoch FROM leased_until - clock_timestamp())::float8 AS left FROM magic_work.workers',
    )
    return row?.left
  }
  const lastLook = (change: string) =>
    database.query(`UPDATE magic_work.watch SET at = clock_timestamp() ${change}`)
  await database.query(
    `INSERT INTO magic_work.workers (id, name, process, version, calls, lease, leased_until)
     VALUES ('silent', 'worker', 1, '1', 4, '20 s', clock_timestamp() - interval '1 hour' + interval '10 s')`,
  )
  // The server was started within the last hour, so leases start anew.
  await lastLook("- interval '1 hour'")
  await endExpiredLeases(database)
  expect(await left()).toBeGreaterThan(0)
  expect(await left()).toBeLessThanOrEqual(20)

  // The server was running but unreachable: of two seconds only a quarter of the lease counts.
  await database.query("SELECT pg_sleep_until(pg_postmaster_start_time() + interval '3 s')")
  await database.query(
    "UPDATE magic_work.workers SET lease = '1 s', leased_until = clock_timestamp() - interval '1.4 s'",
  )
  await lastLook("- interval '2 s'")
  await endExpiredLeases(database)
  expect(await left()).toBeDefined()
  await database.query("UPDATE magic_work.workers SET lease = '20 s'")

  await database.query("UPDATE magic_work.workers SET leased_until = clock_timestamp() + interval '1 hour'")
  await lastLook("+ interval '1 hour'")
  await endExpiredLeases(database)
  expect(await left()).toBeGreaterThan(0)
  expect(await left()).toBeLessThanOrEqual(20)

  // While someone watches, it expires.
  await lastLook('')
  await database.query("UPDATE magic_work.workers SET leased_until = clock_timestamp() - interval '1 ms'")
  await endExpiredLeases(database)
  expect(await left()).toBeUndefined()
  await database.close()
})

test('a worker that cannot reach the database for too long exits with the code for that', async () => {
  await using there = await cutOff(leaseMs)
  const { lease, proxy } = there
  proxy.silence()
  await expect(
    lease
      .held()
      .then(() => sleep(leaseMs))
      .then(() => lease.held()),
  ).rejects.toMatchObject({
    exitCode: exitCode.unavailable,
  })
})
