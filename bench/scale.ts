// Several machines: how long a batch of evaluations takes with workers, compared with one process with as many concurrent calls, and
// how much the queue and the shared ledger can take. The model is simulated and takes a second per answer.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { Logger, runTaskList } from 'graphile-worker'
import type { AgentGraph } from '../src/graph/agent-graph.ts'
import { CallLimit } from '../src/models/call-limit.ts'
import { type ChatReply, paperDecoding } from '../src/models/chat-model.ts'
import { CallAllowance } from '../src/store/allowance/call-allowance.ts'
import { PostgresAllowanceStore } from '../src/store/allowance/postgres-store.ts'
import { PostgresLedger } from '../src/store/ledger/postgres.ts'
import { SqliteLedger } from '../src/store/ledger/sqlite.ts'
import { PostgresAddress } from '../src/store/postgres/address.ts'
import { Database } from '../src/store/postgres/database.ts'
import { openEvaluator } from '../src/training/training-evaluator.ts'
import { assignmentOf } from '../src/workers/assignment.ts'
import { RemoteEvaluations } from '../src/workers/remote-evaluations.ts'
import { migrateWork } from '../src/workers/tables.ts'
import { Postgres } from '../test/postgres/server.ts'
import { atLeast, atMost, type Bench } from './bench.ts'
import { measureSharedLedger } from './scale/shared-ledger.ts'
import { callsPerWorker, drawPairs, partsWith, scaleSet } from './scale/workload.ts'

type Say = (line: string) => void
type Pairs = readonly (readonly [AgentGraph, string])[]

const workers = 4

export const scaleBench: Bench = async ({ quick, say }) => {
  const latencyMs = quick ? 200 : 1000
  const pairs = await drawPairs(scaleSet, quick ? 6 : 9)
  await using closing = new AsyncDisposableStack()
  const postgres = closing.adopt(await Postgres.start({ durable: true }), (server) => server.stop())
  const address = await postgres.database()
  const database = closing.adopt(
    await Database.open(new PostgresAddress(address), { connections: 12 }),
    (one) => one.close(),
  )
  say(`${pairs.length} evaluations in one process with ${workers * callsPerWorker} calls in flight …`)
  const alone = await inProcess(pairs, latencyMs, workers * callsPerWorker)
  const byOne = await withWorkers(database, address, 1, pairs, latencyMs, say)
  const byFour = await withWorkers(database, address, workers, pairs, latencyMs, say)
  for (const other of [byOne, byFour]) {
    if (JSON.stringify(other.scores) !== JSON.stringify(alone.scores))
      throw new Error('Workers and the single process got different scores.')
    // If leases expire because the machine is busy, the measurement means nothing.
    if (other.calls !== alone.calls)
      throw new Error(`Workers made ${other.calls} calls, one process ${alone.calls}.`)
  }
  const jobs = await emptyJobs(database, quick ? 2000 : 10_000, say)
  const limited = await overshoot(address, quick ? 40 : 60, say)
  const ledger = await measureSharedLedger(
    await postgres.database(),
    ...([quick ? 20_000 : 1_000_000, quick ? 2000 : 10_000, say] as const),
  )
  return {
    figures: {
      wall_vs_in_process: byFour.seconds / alone.seconds,
      speedup_4_workers: byOne.seconds / byFour.seconds,
      jobs_per_second: jobs,
      ledger_get_put_per_second: ledger.getPutPerSecond,
      rate_limit_overshoot: limited,
    },
    goals: {
      wall_vs_in_process: atMost(1.1),
      speedup_4_workers: atLeast(3.6),
      rate_limit_overshoot: atMost(0.02),
    },
    latencyMs,
    evaluations: pairs.length,
    calls: alone.calls,
    seconds: { inProcess: alone.seconds, oneWorker: byOne.seconds, fourWorkers: byFour.seconds },
    bytesPerRow: ledger.bytesPerRow,
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
  }
}

async function timed(evaluator: ReturnType<typeof openEvaluator>, pairs: Pairs) {
  const start = performance.now()
  const scores = await Promise.all(pairs.map(([graph, task]) => evaluator.evaluate(graph, task)))
  const seconds = (performance.now() - start) / 1000
  return { scores, seconds, calls: evaluator.take().usage.calls }
}

async function inProcess(pairs: Pairs, latencyMs: number, calls: number) {
  const ledger = await SqliteLedger.open(':memory:')
  const parts = partsWith(scaleSet, latencyMs, new CallLimit(calls))
  try {
    return await timed(openEvaluator({ parts, ledger, requestReuse: true }), pairs)
  } finally {
    await ledger.close()
  }
}

async function withWorkers(
  database: Database,
  address: string,
  count: number,
  pairs: Pairs,
  latencyMs: number,
  say: Say,
) {
  say(`the same by ${count} worker${count === 1 ? '' : 's'} with ${callsPerWorker} calls each …`)
  const namespace = randomUUID()
  await PostgresLedger.create(database, namespace, 'bench')
  const ledger = await PostgresLedger.open(database, { name: namespace })
  const parts = partsWith(scaleSet, latencyMs, new CallLimit(callsPerWorker))
  const assignment = assignmentOf(parts, undefined)
  const remote = await RemoteEvaluations.open({ database, ledger, namespace, assignment, say })
  const file = new URL('scale/worker-process.ts', import.meta.url).pathname
  const processes = Array.from({ length: count }, (_, number) =>
    spawn(process.execPath, [file, address, `worker-${number}`, String(latencyMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  try {
    // Each worker says when it has opened the assignment.
    await Promise.all(processes.map((one) => once(one.stdout!, 'data')))
    return await timed(openEvaluator({ parts, ledger, requestReuse: true, make: remote.make }), pairs)
  } finally {
    await remote.close()
    await Promise.all(processes.map(end))
    await ledger.close()
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
}

/** Jobs that do nothing, from submitting them until the last is done. */
async function emptyJobs(database: Database, count: number, say: Say): Promise<number> {
  say(`${count} empty jobs …`)
  await migrateWork(database)
  let left = count
  const done = Promise.withResolvers<void>()
  const logger = new Logger(() => () => {})
  const nothing = async () => {
    left -= 1
    if (left === 0) done.resolve()
  }
  const pool = runTaskList(
    { logger, concurrency: 10, noHandleSignals: true },
    { 'bench nothing': nothing },
    database.pool,
  )
  const start = performance.now()
  const jobs = Array.from({ length: count }, () => ({ identifier: 'bench nothing', payload: {} }))
  await database.query(
    `SELECT count(*) FROM graphile_worker.add_jobs(
       ARRAY(SELECT json_populate_recordset(null::graphile_worker.job_spec, $1::json)))`,
    [JSON.stringify(jobs)],
  )
  await done.promise
  const seconds = (performance.now() - start) / 1000
  await pool.gracefulShutdown()
  return count / seconds
}

/** How far callers that share a rate limit, each with its own connection, exceed it in any span of time. */
async function overshoot(address: string, seconds: number, say: Say): Promise<number> {
  say(`${workers} callers under one rate limit for ${seconds} s …`)
  const requestsPerMinute = 1200
  const request = { system: 'bench', user: 'bench', decoding: paperDecoding }
  const answer: ChatReply = { ok: true, text: '', finish: 'stop', warnings: [], durationMs: 0 }
  const until = AbortSignal.timeout(seconds * 1000)
  let admitted = 0
  const call = async () => {
    const database = await Database.open(new PostgresAddress(address))
    const store = await PostgresAllowanceStore.open(database, { account: 'bench', limiter: 'bench/limited' })
    await store.setLimits({ requestsPerMinute })
    const allowance = new CallAllowance(store, { leaseMs: 60_000 })
    const lane = async () => {
      while (!until.aborted) {
        const settle = await allowance.admit(request, until)
        if (settle === undefined) return
        admitted += 1
        settle(answer)
      }
    }
    await Promise.all(Array.from({ length: callsPerWorker }, lane))
    await allowance.settled()
    await database.close()
  }
  await Promise.all(Array.from({ length: workers }, call))
  return Math.max(0, admitted / ((requestsPerMinute * seconds) / 60) - 1)
}
