// node writer.ts LEDGER FIRST COUNT: keeps evaluations and replies, several at a time, and prints which are
// acknowledged.
import { writeSync } from 'node:fs'
import { SqliteLedger } from '../../src/store/ledger/sqlite.ts'
import { writeSamples } from './samples.ts'

const [path, first, count] = process.argv.slice(2)
const ledger = await SqliteLedger.open(path!)
writeSync(1, 'open\n')
await writeSamples(ledger, Number(first), Number(count))
await ledger.close()
