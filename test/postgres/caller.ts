// node caller.ts ADDRESS ACCOUNT LIMITER CALLS LEASE: makes calls through a shared allowance, eight at a
// time, and reports each. A call is answered when a line of input arrives, or at once after `free`.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { CallLimit } from '../../src/models/call-limit.ts'
import { paperDecoding } from '../../src/models/chat-model.ts'
import { callModel } from '../../src/models/retry.ts'
import { CapReachedError } from '../../src/store/allowance/allowance-store.ts'
import { CallAllowance } from '../../src/store/allowance/call-allowance.ts'
import { PostgresAllowanceStore } from '../../src/store/allowance/postgres-store.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'

const [address, account, limiter, calls, lease] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
]
const database = await Database.open(new PostgresAddress(address))
const store = await PostgresAllowanceStore.open(database, { account, limiter })
const allowance = new CallAllowance(store, { leaseMs: Number(lease) })
const go = Promise.withResolvers<void>()
createInterface(process.stdin).on('line', () => go.resolve())
const model = {
  identity: { provider: 'p', model: 'm', options: {} },
  async ask() {
    writeSync(1, 'asked\n')
    await go.promise
    const usage = { input: 30, cachedInput: 0, output: 20 }
    return { ok: true, text: '', finish: 'stop', usage, warnings: [], durationMs: 1 } as const
  },
}
const request = { system: 'x'.repeat(90), user: '', decoding: { ...paperDecoding, maxOutputTokens: 20 } }
const limit = new CallLimit(8)
const outcomes = await Promise.allSettled(
  Array.from({ length: Number(calls) }, () => callModel(model, request, { limit, allowance })),
)
await allowance.settled()
for (const outcome of outcomes)
  if (outcome.status === 'rejected') {
    if (!(outcome.reason instanceof CapReachedError)) throw outcome.reason
    writeSync(1, `refused ${outcome.reason.cap}\n`)
  }
await database.close()
process.stdin.destroy()
