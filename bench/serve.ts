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
    const requestsEach = quick ? 2 : 24
    // A server is warm for most of its life: its heap has grown to the size this load needs.
    const warmUps = quick ? 1 : 10
    await load(served, warmUps, 1000)
    await load(bare, warmUps, 1000)
    const ours = new Rounds(plans)
    const theirs = new Rounds(plans)
    const rounds = quick ? 1 : 5
    for (let round = 1; round <= rounds; round += 1) {
      say(`round ${round} of ${rounds}, each also with a bare handler that makes the same calls …`)
      ours.add(await load(served, requestsEach, 1000))
      theirs.add(await load(bare, requestsEach, 1000))
    }
    const growth = (memoryAfter.rss - memoryBefore.rss) / 2 ** 20
    return {
      figures: {
        [`p99_overhead_ms_${clients}`]: ours.p99.median,
        failed: warm.failed + ours.failed + theirs.failed + fast.failed,
        memory_growth_mb: Math.max(0, growth),
        throughput_vs_bare_hono: ours.perSecond / theirs.perSecond,
      },
      goals: {
        [`p99_overhead_ms_${clients}`]: atMost(30),
        failed: atMost(0),
        memory_growth_mb: atMost(50),
        throughput_vs_bare_hono: atLeast(0.8),
      },
      ours: ours.details,
      bare: theirs.details,
      withoutLatency: { requests: fast.answered.length, perSecond: perSecond(fast), cpuMs: cpuOf(fast) },
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

/**
 * The rounds of one server. Every call takes exactly 200 ms, so requests that once collide go on colliding: rounds differ
 * much, and the median of their 99th percentiles says more than one long round.
 */
class Rounds {
  readonly p99 = new Samples()
  readonly #plans: ReadonlyMap<string, ExpectedCall[]>
  readonly #loads: Load[] = []
  readonly #measured = new Samples()
  /** Assumes exactly 200 ms per call, whatever the model actually took. */
  readonly #nominal = new Samples()

  constructor(plans: ReadonlyMap<string, ExpectedCall[]>) {
    this.#plans = plans
  }

  add(round: Load): void {
    this.#loads.push(round)
    const overheads = new Samples()
    for (const { measured, nominal } of overheadsOf(round, this.#plans)) {
      overheads.add(measured)
      this.#measured.add(measured)
      this.#nominal.add(nominal)
    }
    this.p99.add(overheads.quantile(0.99))
  }

  get failed(): number {
    return sum(this.#loads.map(({ failed }) => failed))
  }

  get perSecond(): number {
    return mean(this.#loads.map(perSecond))
  }

  get details() {
    const loads = this.#loads
    const pauses = loads.map(({ after }) => after.gcMs)
    const cpu = loads.map(cpuOf)
    return {
      p99OfRounds: this.p99.sorted.map((ms) => Number(ms.toPrecision(4))),
      overheadMs: summary(this.#measured),
      nominalOverheadMs: summary(this.#nominal),
      requests: sum(loads.map(({ answered }) => answered.length)),
      perSecond: this.perSecond,
      cpuMs: {
        server: mean(cpu.map(({ server }) => server)),
        client: mean(cpu.map(({ client }) => client)),
        model: mean(cpu.map(({ model }) => model)),
      },
      busy: mean(loads.map(({ after }) => after.busy)),
      gcMs: {
        sum: sum(pauses.map((one) => one.sum)),
        longest: Math.max(...pauses.map((one) => one.longest)),
      },
    }
  }
}

/** Overhead per request, relative to the measured and the nominal time of its calls. Skips requests with repaired replies. */
function* overheadsOf({ answered, model }: Load, plans: ReadonlyMap<string, ExpectedCall[]>) {
  const byQuestion = Object.groupBy(answered, ({ question }) => question) as Record<string, Answer[]>
  for (const [question, answers] of Object.entries(byQuestion)) {
    const plan = plans.get(question)!
    let calls = model.calls[question]!
    // Requests with the same question are sequential, and so are their calls.
    for (const { ms, calls: counted } of answers) {
      const made = counted ?? plan.length
      if (made === plan.length)
        yield {
          measured: ms - modelTime(plan, calls.slice(0, made)),
          nominal: ms - longestChain(plan, () => latency),
        }
      calls = calls.slice(made)
    }
  }
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

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}
