import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
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
