// `magic serve` with the official client: the time it adds to the model's own, its cost compared with a bare Hono handler
// that makes the same calls, and whether its memory grows.
//
// The overhead of a request is the time its client waited, minus its longest chain of model calls. The model endpoint
// measures each call itself, from the arrival of the request until just before it sends the reply; late timers thus count
// as the model's time. Everything else is overhead: the client's own work, waiting in sockets and event loops, and the
// server. The same figure for the bare handler, in the same run, shows how much of it is due to the client and to a machine
// shared by all three processes.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { lexicalEncoder } from '../src/encoder/lexical-encoder.ts'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../src/simulator/model/simulator.ts'
import { train } from '../src/training/train.ts'
import { atLeast, atMost, type Bench, Samples } from './bench.ts'
import type { Answer, ClientOrder, ClientReport } from './serve/client-process.ts'
import { callsOf, type ExpectedCall, longestChain, modelTime } from './serve/critical-path.ts'
import type { EndpointOrder, EndpointReport } from './serve/model-endpoint.ts'
import type { ServerMemory, ServerOrder, ServerReport } from './serve/server-process.ts'
import { trainingQuestions } from './training/questions.ts'

/** Milliseconds per model call. */
const latency = 200
const clients = 64

/**
 * For the client and the model endpoint, whose garbage collection would otherwise stop all 64 clients or all calls at once and
 * take a core from the server. The server runs with the default settings.
 */
const rareCollections = ['--min-semi-space-size=64', '--max-semi-space-size=128']

export const serveBench: Bench = async ({ quick, say }) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-serve-'))
  const processes: ChildProcess[] = []
  const start = async (name: string, flags: readonly string[], ...words: string[]) => {
    const script = new URL(`./serve/${name}.ts`, import.meta.url)
    const child = fork(script, words, { execArgv: [...flags] })
    processes.push(child)
    child.once('exit', (code) => code !== 0 && say(`The ${name} ended with ${code}.`))
    const [message] = await once(child, 'message')
    return { child, message }
  }
  try {
    say('a policy …')
    // Four questions for each client.
    const set = trainingQuestions(4 * clients)
    const run = join(folder, 'bench')
    const settings = { updates: 1, trajectories: 2, probes: 1 }
    const simulated = new SimulatedModel({ tasks: knownTasks(set) })
    await train({ set, model: simulated, folder: run, settings, encoder: lexicalEncoder, sandbox: null })
    const questions = set.splits['train']!.tasks.map(({ question }) => question)

    const endpoint = await start('model-endpoint', rareCollections)
    const server = await start(
      'server-process',
      ['--expose-gc'],
      run,
      `http://127.0.0.1:${endpoint.message}/v1`,
    )
    const client = await start('client-process', rareCollections)
    const { served, bare } = server.message as { served: string; bare: string }
    const order = async <Order extends object | string, Report>(to: ChildProcess, given: Order) => {
      const reported = once(to, 'message')
      to.send(given)
      return (await reported)[0] as Report
    }
    const setLatency = (ms: number) => endpoint.child.send({ latency: ms } satisfies EndpointOrder)
    /** Sends the requests of all clients, and measures each process. */
    const load = async (url: string, requestsEach: number, spreadMs = 0) => {
      const given = { url, clients, requestsEach, questions, spreadMs }
      await order<EndpointOrder, EndpointReport>(endpoint.child, 'report')
      const before = await order<ServerOrder, ServerReport>(server.child, 'report')
      const asked = await order<ClientOrder, ClientReport>(client.child, given)
      const after = await order<ServerOrder, ServerReport>(server.child, 'report')
      const model = await order<EndpointOrder, EndpointReport>(endpoint.child, 'report')
      return { ...asked, model, before, after }
    }

    say('warming up …')
    const warm = await load(served, quick ? 4 : 100)
    const { graphs } = warm
    const plans = new Map(Object.entries(graphs).map(([question, graph]) => [question, callsOf(graph)]))
    await order<ServerOrder, string>(server.child, { graphs })
    await load(bare, quick ? 1 : 16)

    const many = quick ? 256 : 20_000
    say(`${many} requests to a model that takes no time …`)
    const memoryBefore = await order<ServerOrder, ServerMemory>(server.child, 'memory')
    const fast = await load(served, Math.ceil(many / clients))
    const memoryAfter = await order<ServerOrder, ServerMemory>(server.child, 'memory')

    say(`${clients} clients, ${latency} ms per call …`)
    setLatency(latency)
    const requestsEach = quick ? 2 : 40
    // A server is warm for most of its life: its heap has grown to the size this load needs.
    const warmUps = quick ? 1 : 10
    await load(served, warmUps, 1000)
    const ours = await load(served, requestsEach, 1000)
    say('the same calls from a bare handler …')
    await load(bare, warmUps, 1000)
    const theirs = await load(bare, requestsEach, 1000)

    const overhead = overheads(ours, plans)
    const bareOverhead = overheads(theirs, plans)
    const growth = (memoryAfter.rss - memoryBefore.rss) / 2 ** 20
    return {
      figures: {
        [`p99_overhead_ms_${clients}`]: overhead.measured.quantile(0.99),
        failed: warm.failed + ours.failed + theirs.failed + fast.failed,
        memory_growth_mb: Math.max(0, growth),
        throughput_vs_bare_hono: perSecond(ours) / perSecond(theirs),
      },
      goals: {
        [`p99_overhead_ms_${clients}`]: atMost(30),
        failed: atMost(0),
        memory_growth_mb: atMost(50),
        throughput_vs_bare_hono: atLeast(0.8),
      },
      overheadMs: summary(overhead.measured),
      bareOverheadMs: summary(bareOverhead.measured),
      /** Assumes exactly 200 ms per call, whatever the model actually took. */
      nominal: { overheadMs: summary(overhead.nominal), bareOverheadMs: summary(bareOverhead.nominal) },
      requests: {
        timed: ours.answered.length,
        withoutRepairs: overhead.measured.size,
        load: fast.answered.length,
      },
      perSecond: { ours: perSecond(ours), bare: perSecond(theirs), withoutLatency: perSecond(fast) },
      cpuMsPerRequest: { ours: cpuOf(ours), bare: cpuOf(theirs), withoutLatency: cpuOf(fast) },
      serverBusy: { ours: ours.after.busy, bare: theirs.after.busy },
      serverGcMs: { ours: ours.after.gcMs, bare: theirs.after.gcMs },
      meanCalls: mean(ours.answered.map(({ calls }) => calls!)),
      memoryMb: {
        before: memoryBefore.rss / 2 ** 20,
        after: memoryAfter.rss / 2 ** 20,
        heapGrowth: (memoryAfter.heapUsed - memoryBefore.heapUsed) / 2 ** 20,
      },
      machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
    }
  } finally {
    for (const child of processes) if (child.connected) child.disconnect()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Load extends ClientReport {
  readonly model: EndpointReport
  readonly before: ServerReport
  readonly after: ServerReport
}

/** Overhead per request, relative to the measured and the nominal time of its calls. Skips requests with repaired replies. */
function overheads({ answered, model }: Load, plans: ReadonlyMap<string, ExpectedCall[]>) {
  const measured = new Samples()
  const nominal = new Samples()
  const byQuestion = Object.groupBy(answered, ({ question }) => question) as Record<string, Answer[]>
  for (const [question, answers] of Object.entries(byQuestion)) {
    const plan = plans.get(question)!
    let calls = model.calls[question]!
    // Requests with the same question are sequential, and so are their calls.
    for (const { ms, calls: counted } of answers) {
      const made = counted ?? plan.length
      if (made === plan.length) {
        measured.add(ms - modelTime(plan, calls.slice(0, made)))
        nominal.add(ms - longestChain(plan, () => latency))
      }
      calls = calls.slice(made)
    }
  }
  return { measured, nominal }
}

function perSecond({ answered, seconds }: ClientReport): number {
  return answered.length / seconds
}

/** CPU time of the client, the server and the model endpoint. */
function cpuOf({ answered, cpuMillis, before, after, model }: Load) {
  const count = answered.length
  return {
    server: (after.cpuMillis - before.cpuMillis) / count,
    client: cpuMillis / count,
    model: model.cpuMillis / count,
  }
}

function summary(samples: Samples) {
  return { ...samples.summary(), p99: Number(samples.quantile(0.99).toPrecision(4)) }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
