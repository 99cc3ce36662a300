// `magic serve` with the official client: what it adds to the model's own time, what it adds to a bare Hono handler that
// makes the same calls, and whether its memory grows.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { lexicalEncoder } from '../src/encoder/lexical-encoder.ts'
import { AgentGraph } from '../src/graph/agent-graph.ts'
import { expandedCounts } from '../src/graph/expansion.ts'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../src/simulator/model/simulator.ts'
import { train } from '../src/training/train.ts'
import { atLeast, atMost, type Bench, Samples } from './bench.ts'
import type { ClientOrder, ClientReport } from './serve/client-process.ts'
import { trainingQuestions } from './training/questions.ts'

/** Of one call, in milliseconds. */
const latency = 200
const clients = 64

export const serveBench: Bench = async ({ quick, say }) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-serve-'))
  const processes: ChildProcess[] = []
  const start = async (script: URL, ...words: string[]) => {
    const child = fork(script, words, { execArgv: ['--expose-gc'] })
    processes.push(child)
    child.once('exit', () => say(`${script.pathname} has ended`))
    const [message] = await once(child, 'message')
    return { child, message }
  }
  try {
    say('a policy …')
    const set = trainingQuestions(quick ? 64 : 200)
    const run = join(folder, 'bench')
    const settings = { updates: 1, trajectories: 2, probes: 1 }
    const model = new SimulatedModel({ tasks: knownTasks(set) })
    await train({ set, model, folder: run, settings, encoder: lexicalEncoder, sandbox: null })
    const questions = set.splits['train']!.tasks.map(({ question }) => question)
    const endpoint = await start(new URL('./serve/model-endpoint.ts', import.meta.url), String(latency))
    const server = await start(
      new URL('./serve/server-process.ts', import.meta.url),
      run,
      `http://127.0.0.1:${endpoint.message}/v1`,
    )
    const { child: client } = await start(new URL('./serve/client-process.ts', import.meta.url))
    const { served, bare } = server.message as { served: string; bare: string }
    const ask = async (order: Omit<ClientOrder, 'questions'>): Promise<ClientReport> => {
      const reported = once(client, 'message')
      client.send({ ...order, questions } satisfies ClientOrder)
      return (await reported)[0]
    }
    const memory = async (): Promise<Memory> => {
      const told = once(server.child, 'message')
      server.child.send('memory')
      return (await told)[0]
    }

    say('warming up …')
    endpoint.child.send(0)
    // Each question at least once.
    const warm = await ask({ url: served, clients: 8, requestsEach: quick ? 8 : 100, spreadMs: 0 })
    const graphs = Object.fromEntries(warm.answered.map(({ question, magic }) => [question, magic!.graph]))
    await ask({ url: bare, clients: 8, requestsEach: quick ? 5 : 25, graphs, spreadMs: 0 })

    say(`${clients} clients, ${latency} ms per call …`)
    endpoint.child.send(latency)
    const requestsEach = quick ? 2 : 40
    const before = await memory()
    const ours = await ask({ url: served, clients, requestsEach, spreadMs: 1000 })
    const after = await memory()
    say('the same calls from a bare handler …')
    const theirs = await ask({ url: bare, clients, requestsEach, graphs, spreadMs: 1000 })

    const many = quick ? 256 : 20_000
    say(`${many} requests to a model that takes no time …`)
    endpoint.child.send(0)
    await ask({ url: served, clients, requestsEach: quick ? 1 : 30, spreadMs: 0 })
    const small = await memory()
    const load = await ask({ url: served, clients, requestsEach: Math.ceil(many / clients), spreadMs: 0 })
    const large = await memory()

    const overhead = new Samples()
    const undisturbed = ours.answered.filter(({ magic }) => callsOf(magic!.graph) === magic!.usage.calls)
    for (const { ms, magic } of undisturbed) overhead.add(ms - latency * depthOf(magic!.graph))
    const perSecond = ({ answered, seconds }: ClientReport) => answered.length / seconds
    const growth = (large.rss - small.rss) / 2 ** 20
    return {
      figures: {
        [`p99_overhead_ms_${clients}`]: overhead.quantile(0.99),
        failed: warm.failed + ours.failed + theirs.failed + load.failed,
        memory_growth_mb: Math.max(0, growth),
        throughput_vs_bare_hono: perSecond(ours) / perSecond(theirs),
      },
      goals: {
        [`p99_overhead_ms_${clients}`]: atMost(30),
        failed: atMost(0),
        memory_growth_mb: atMost(50),
        throughput_vs_bare_hono: atLeast(0.8),
      },
      overheadMs: overhead.summary(),
      requests: {
        timed: ours.answered.length,
        withoutRepairs: undisturbed.length,
        load: load.answered.length,
      },
      perSecond: { ours: perSecond(ours), bare: perSecond(theirs), withoutLatency: perSecond(load) },
      serverCpuMsPerRequest: (after.cpuMicros - before.cpuMicros) / 1000 / ours.answered.length,
      meanCalls: mean(ours.answered.map(({ magic }) => magic!.usage.calls)),
      memoryMb: {
        before: small.rss / 2 ** 20,
        after: large.rss / 2 ** 20,
        heapGrowth: (large.heapUsed - small.heapUsed) / 2 ** 20,
      },
      machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
    }
  } finally {
    for (const child of processes) child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Memory {
  readonly rss: number
  readonly heapUsed: number
  readonly cpuMicros: number
}

type GivenGraph = { readonly units: readonly object[] }

const graphOf = ({ units }: GivenGraph) => AgentGraph.of(units as Parameters<typeof AgentGraph.of>[0])

/** Calls of an execution without repairs: one per node, and the finalizer's. */
function callsOf(given: GivenGraph): number {
  return expandedCounts(graphOf(given)).nodes + 1
}

/** Calls that must follow one another. */
function depthOf(given: GivenGraph): number {
  return Math.max(0, ...graphOf(given).exitDepths) + 1
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
