import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Postgres } from '../../../test/postgres/server.ts'
import { PostgresAddress } from '../postgres/address.ts'
import { Database } from '../postgres/database.ts'
import { allowanceContract } from './allowance.contract.ts'
import { PostgresAllowanceStore } from './postgres-store.ts'

let postgres: Postgres
let database: Database
beforeAll(async () => {
  postgres = await Postgres.start()
  database = await Database.open(new PostgresAddress(await postgres.database()))
})
afterAll(async () => {
  await database?.close()
  await postgres?.stop()
})

describe('on PostgreSQL', () => {
  allowanceContract(async () => {
    const names = { account: randomUUID(), limiter: randomUUID() }
    return {
      one: await PostgresAllowanceStore.open(database, names),
      other: await PostgresAllowanceStore.open(database, names),
    }
  })
})

test.for(['5 hours', '3 days', '10 years'])(
  'a model that refused and was last called %s ago can be called again',
  async (age) => {
    const names = { account: randomUUID(), limiter: randomUUID() }
    const store = await PostgresAllowanceStore.open(database, names)
    const claim = () => ({ id: randomUUID(), input: 1, output: 1, money: 0 })
    const [first, next] = [claim(), claim()]
    await store.take([first], 60_000)
    await store.settle([{ id: first.id, isAnswered: false, isUnknown: false, refused: {} }])
    await database.query(
      `UPDATE magic.limiters SET recent = 7, (recent_at, learned_at, closed_until, next_request) =
         (SELECT past, past, past, past FROM (SELECT now() - $2::interval AS past) AS ages) WHERE name = $1`,
      [names.limiter, age],
    )
    expect(await store.take([next], 60_000)).toEqual({ admitted: 1, waitMs: 0 })
    await store.settle([{ id: next.id, isAnswered: true, isUnknown: false }])
  },
)

test('refusals in a row double the pause, up to a limit; an answer ends the row', async () => {
  const names = { account: randomUUID(), limiter: randomUUID() }
  const store = await PostgresAllowanceStore.open(database, names)
  const next = async () => {
    await database.query(
      `UPDATE magic.limiters SET closed_until = 'epoch', next_request = 'epoch' WHERE name = $1`,
      [names.limiter],
    )
    const claim = { id: randomUUID(), input: 1, output: 1, money: 0 }
    expect(await store.take([claim], 60_000)).toMatchObject({ admitted: 1 })
    return { id: claim.id, isUnknown: false }
  }
  const pause = async () => {
    const [row] = await database.query<{ seconds: number }>(
      `SELECT extract(epoch FROM closed_until - refused_at)::float8 AS seconds FROM magic.limiters WHERE name = $1`,
      [names.limiter],
    )
    return row!.seconds
  }
  const pauses: number[] = []
  for (let refusal = 0; refusal < 6; refusal += 1) {
    const underWay = await next()
    const ahead = await next()
    await store.settle([{ ...ahead, isAnswered: false, refused: {} }])
    // A call already in flight counts neither as another refusal nor as an answer.
    if (refusal % 2 === 0) await store.settle([{ ...underWay, isAnswered: false, refused: {} }])
    else await store.settle([{ ...underWay, isAnswered: true }])
    pauses.push(await pause())
  }
  expect(pauses).toEqual([1, 2, 4, 8, 8, 8])
  await store.settle([{ ...(await next()), isAnswered: true }])
  await store.settle([{ ...(await next()), isAnswered: false, refused: {} }])
  expect(await pause()).toBe(1)
})
