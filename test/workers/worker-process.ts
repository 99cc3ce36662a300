// node worker-process.ts ADDRESS URL SETTINGS: a worker in its own process, with a model behind a URL. It
// prints `ready` after opening its first assignment, and ends with its parent.
import { writeSync } from 'node:fs'
import { openModel } from '../../src/models/open-model.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { runWorker } from '../../src/workers/worker.ts'
import { tinyExecutor } from '../tiny-task-set.ts'

export interface WorkerSettings {
  readonly name: string
  readonly calls: number
  readonly leaseSeconds: number
  /** The model's key, by which its server identifies the caller. */
  readonly key: string
}

const [address, url, settings] = process.argv.slice(2) as [string, string, string]
const { name, calls, leaseSeconds, key } = JSON.parse(settings) as WorkerSettings
const drain = new AbortController()
process.on('SIGTERM', () => drain.abort())
// The parent is gone.
process.stdin.on('end', () => process.exit()).resume()
const database = await Database.open(new PostgresAddress(address), {
  connections: calls + 4,
  statementMs: leaseSeconds * 1000,
})
const { parts } = tinyExecutor()
const model = openModel({ preset: 'vllm', model: 'simulated', baseURL: url, apiKeyEnv: 'KEY' }, { KEY: key })
await runWorker({
  ...{ database, name, calls, leaseSeconds, drain: drain.signal },
  open: async (_, { limit }) => ({ parts: { ...parts, model, limit }, close: async () => {} }),
  say: (text) => void writeSync(1, `ready ${text}\n`),
})
await model.close()
await database.close()
process.exit()
