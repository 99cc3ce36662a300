import { afterAll, beforeAll, expect, test } from 'vitest'
import { Postgres } from '../../test/postgres/server.ts'
import { CallLimit } from '../models/call-limit.ts'
import { PostgresAddress } from '../store/postgres/address.ts'
import { Database } from '../store/postgres/database.ts'
import { Bulletin } from './bulletin.ts'
import { Claims } from './claims.ts'
import { migrateWork } from './tables.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(() => postgres.stop())

const never = new AbortController().signal

async function twoWorkers() {
  const database = await Database.open(new PostgresAddress(await postgres.database()))
  await migrateWork(database)
  const bulletin = new Bulletin(database)
  const claimsOf = async (id: string) => {
    await database.query(
      `INSERT INTO magic_work.workers (id, name, process, version, calls, lease, leased_until)
       VALUES ($1, $1, 1, '1', 4, '1 hour', now() + interval '1 hour')`,
      [id],
    )
    const claims = new Claims(database, id)
    await claims.listen(bulletin)
    return claims.on('ledger', new CallLimit(4))
  }
  return {
    database,
    one: await claimsOf('one'),
    two: await claimsOf('two'),
    claims: () => database.query('SELECT name, worker FROM magic_work.claims'),
    async [Symbol.asyncDispose]() {
      await bulletin.close()
      await database.close()
    },
  }
}

test('after claiming a call, a worker checks the ledger again before making it', async () => {
  await using there = await twoWorkers()
  // Another worker stored the answer and released its claim between our look and our claim.
  expect(await there.one.find('request', async () => 'kept', never)).toBe('kept')
  expect(await there.claims()).toEqual([])
})

test('of two workers one makes the call, the other gets its answer, and the claim is removed', async () => {
  await using there = await twoWorkers()
  let kept: string | undefined
  const find = async () => kept
  expect(await there.one.find('request', find, never)).toBeUndefined()
  const waiting = there.two.find('request', find, never)
  kept = 'answer'
  there.one.kept('request')
  expect(await waiting).toBe('answer')
  while ((await there.claims()).length > 0) await new Promise(setImmediate)
})

test('a call that failed or whose worker lost its lease is made by another', async () => {
  await using there = await twoWorkers()
  const find = async () => undefined
  await there.one.find('failed', find, never)
  await there.one.find('lost', find, never)
  const failed = there.two.find('failed', find, never)
  const lost = there.two.find('lost', find, never)
  await there.one.forgo('failed')
  expect(await failed).toBeUndefined()
  await there.database.query("SELECT magic_work.end_leases(ARRAY['one'])")
  expect(await lost).toBeUndefined()
  expect(await there.claims()).toHaveLength(2)
})
