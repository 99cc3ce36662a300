// node writer.ts LEDGER FIRST COUNT: keeps evaluations and replies, several at a time, and says which are acknowledged.
import { writeSync } from 'node:fs'
import { SqliteLedger } from '../../src/store/ledger/sqlite.ts'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from './samples.ts'

const [path, first, count] = process.argv.slice(2)
const ledger = await SqliteLedger.open(path!)
writeSync(1, 'open\n')
const end = Number(first) + Number(count)
let next = Number(first)
async function lane(): Promise<void> {
  while (next < end) {
    const number = next
    next += 1
    await ledger.keepReply(`request-${number}`, sampleAnswer(number))
    await ledger.keep(
      sampleKey(number),
      sampleEvaluation(number),
      sampleTrace(number, 'text '.repeat(number % 900)),
    )
    // Straight to the descriptor: what is acknowledged is heard even if the next instant is the last.
    writeSync(1, `${number}\n`)
  }
}
await Promise.all([lane(), lane(), lane(), lane()])
await ledger.close()
