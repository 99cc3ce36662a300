// node postgres-writer.ts ADDRESS LEDGER FIRST COUNT: like writer.ts, on PostgreSQL.
import { writeSync } from 'node:fs'
import { PostgresLedger } from '../../src/store/ledger/postgres.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { writeSamples } from './samples.ts'

const [address, name, first, count] = process.argv.slice(2) as [string, string, string, string]
const database = await Database.open(new PostgresAddress(address), { statementMs: 5000 })
const ledger = await PostgresLedger.open(database, { name })
writeSync(1, 'open\n')
await writeSamples(ledger, Number(first), Number(count))
await ledger.close()
await database.close()
