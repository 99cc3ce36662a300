// The thread that renews a worker's lease, with a connection of its own. It ends by itself when the lease is lost.
import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { type HeartbeatSettings, type Pulse, reapLeases } from './lease.ts'

const { address, id, leaseMs } = workerData as HeartbeatSettings
const everyMs = leaseMs / 4
let pulse: Pulse = { running: 0, done: 0, draining: false }
let counted = { done: 0, at: performance.now() }
let rate = 0
let renewedAt = performance.now()
let client: pg.Client | undefined

parentPort!.on('message', (told: Pulse) => {
  pulse = told
})

/** Per second, over about the last ten seconds. */
function measureRate(): number {
  const now = performance.now()
  const seconds = (now - counted.at) / 1000
  if (seconds >= 1) {
    const share = Math.min(1, seconds / 10)
    rate = (1 - share) * rate + (share * (pulse.done - counted.done)) / seconds
    counted = { done: pulse.done, at: now }
  }
  return rate
}

async function connected(): Promise<pg.Client> {
  if (client !== undefined) return client
  const opened = new pg.Client({
    connectionString: address,
    connectionTimeoutMillis: leaseMs / 2,
    query_timeout: leaseMs / 2,
    keepAlive: true,
  })
  opened.on('error', () => drop(opened))
  await opened.connect()
  client = opened
  return opened
}

function drop(broken: pg.Client): void {
  if (client === broken) client = undefined
  // It may never answer again.
  broken.end().catch(() => {})
}

/** Whether the lease is still ours, as far as one can know. */
async function beat(): Promise<boolean> {
  let open: pg.Client | undefined
  try {
    open = await connected()
    const { running, done, draining } = pulse
    const { rowCount } = await open.query(
      `UPDATE magic_work.workers SET leased_until = now() + $2 * interval '1 ms', running = $3, done = $4, draining = $5, rate = $6
       WHERE id = $1`,
      [id, leaseMs, running, done, draining, measureRate()],
    )
    if (rowCount === 0) return false
    renewedAt = performance.now()
    const asking = open
    await reapLeases({ query: async (text, values = []) => (await asking.query(text, [...values])).rows })
  } catch {
    if (open !== undefined) drop(open)
  }
  return performance.now() - renewedAt < leaseMs
}

while (await beat()) await new Promise((resolve) => setTimeout(resolve, everyMs))
parentPort!.postMessage('lost')
process.exit()
