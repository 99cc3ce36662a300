// Thread that renews a worker's lease over its own connection. It ends when the lease is lost.
import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { endExpiredLeases, type HeartbeatSettings, monotonicMs, type Pulse, type Renewal } from './lease.ts'
import { unwatchedShare } from './tables.ts'

const { address, id, leaseMs, takenAt, patienceMs } = workerData as HeartbeatSettings
const everyMs = leaseMs / (2 * unwatchedShare)
let pulse: Pulse = { done: 0, draining: false }
let counted = { done: 0, at: monotonicMs() }
let rate = 0
let renewedAt = takenAt
let client: pg.Client | undefined

parentPort!.on('message', (told: Pulse) => {
  pulse = told
})

const tell = (renewal: Renewal) => parentPort!.postMessage(renewal)

/** Evaluations per second, over about the last ten seconds. */
function measureRate(): number {
  const now = monotonicMs()
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
  // Not awaited: it may never answer.
  broken.end().catch(() => {})
}

/** Only the database can end a lease: while it is down, nobody can take over the work. */
async function beat(): Promise<Renewal> {
  let open: pg.Client | undefined
  try {
    open = await connected()
    const { done, draining } = pulse
    // The database counts from a later moment, so this estimate is on the safe side.
    const askedAt = monotonicMs()
    const { rowCount } = await open.query(
      `UPDATE magic_work.workers SET leased_until = clock_timestamp() + lease, done = $2, draining = $3, rate = $4
       WHERE id = $1`,
      [id, done, draining, measureRate()],
    )
    if (rowCount === 0) return 'lost'
    renewedAt = askedAt
    const asking = open
    await endExpiredLeases({ query: async (text) => (await asking.query(text)).rows })
  } catch {
    if (open !== undefined) drop(open)
  }
  return monotonicMs() - renewedAt < patienceMs ? renewedAt : 'unreachable'
}

for (;;) {
  const renewal = await beat()
  tell(renewal)
  if (typeof renewal === 'string') process.exit()
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
