import { expect, test } from 'vitest'
import { Postgres } from '../../test/postgres/server.ts'
import { PostgresAddress } from '../store/postgres/address.ts'
import { Database } from '../store/postgres/database.ts'
import { Bulletin } from './bulletin.ts'

test('listeners added or removed while PostgreSQL is down keep working, and notices arrive once it is back', async () => {
  const postgres = await Postgres.start()
  try {
    const database = await Database.open(new PostgresAddress(await postgres.database()))
    const [left, stays] = [new Bulletin(database), new Bulletin(database)]
    await postgres.halt()

    await left.hear('news', () => {})
    await left.close()

    const told = Promise.withResolvers<string>()
    await stays.hear('news', (payload) => {
      // A notice without a payload only says that it is time to look, because the connection may be back.
      if (payload === undefined) database.pool.query("NOTIFY news, 'here'").catch(() => {})
      else told.resolve(payload)
    })
    await postgres.restart()
    expect(await told.promise).toBe('here')
    await stays.close()
    await database.close()
  } finally {
    await postgres.stop()
  }
})
