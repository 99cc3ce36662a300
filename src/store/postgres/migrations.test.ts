import { afterAll, beforeAll, expect, test } from 'vitest'
import { Postgres } from '../../../test/postgres/server.ts'
import { migrateWork } from '../../workers/tables.ts'
import { PostgresAddress } from './address.ts'
import { Database } from './database.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(() => postgres.stop())

test('processes that start together on an empty database wait for the one that creates the tables', async () => {
  for (let round = 0; round < 5; round += 1) {
    const address = new PostgresAddress(await postgres.database())
    const started = await Promise.all(Array.from({ length: 8 }, () => Database.open(address)))
    await Promise.all(started.map(migrateWork))
    const [made] = await started[0]!.query(
      `SELECT (SELECT max(version) FROM magic.migrations) AS ledgers, (SELECT max(version) FROM magic_work.migrations) AS work`,
    )
    expect(made).toEqual({ ledgers: 3, work: 1 })
    await Promise.all(started.map((database) => database.close()))
  }
})
