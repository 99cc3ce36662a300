// node worker-process.ts ADDRESS NAME LATENCY: a worker for the scale bench, with a simulated model in its own process.
import { CallLimit } from '../../src/models/call-limit.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { runWorker } from '../../src/workers/worker.ts'
import { callsPerWorker, partsWith, scaleSet } from './workload.ts'

const [address, name, latency] = process.argv.slice(2) as [string, string, string]
const database = await Database.open(new PostgresAddress(address), { connections: callsPerWorker + 4 })
const drain = new AbortController()
process.on('SIGTERM', () => drain.abort())
const parts = partsWith(scaleSet, Number(latency), new CallLimit(callsPerWorker))
await runWorker({
  ...{ database, name, calls: callsPerWorker, drain: drain.signal },
  open: async (_, { limit }) => ({ parts: { ...parts, limit }, close: async () => {} }),
  say: (text) => console.log(text),
})
await database.close()
