import { createHash } from 'node:crypto'
import { type ChatModel, paperDecoding } from '../../src/models/chat-model.ts'
import type { Engine } from './engine.ts'
import { FakeModel, WatchedModel } from './fake-model.ts'
import { type ShapeName, shapes } from './shapes.ts'

export const callMs = 20

export interface Spent {
  /** For the whole process, because compilers and garbage collectors use other threads. */
  readonly cpuMs: number
  readonly wallMs: number
}

export interface Memory {
  /** Growth per graph, in KiB. */
  readonly peakRss: number
  readonly peakHeap: number
  /** Live memory when every graph has only its finalizer left. */
  readonly liveHeap: number
  /** Live memory after all results are released. */
  readonly left: number
}

/** Measures one engine, in its own process. */
export class EngineWork {
  readonly #engine: Engine
  readonly #fake = new FakeModel(0)
  readonly #slow = new FakeModel(callMs)
  readonly #prepared = new Map<ChatModel, Map<ShapeName, () => Promise<unknown>>>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Digests of the requests of one run, unordered. */
  async requests(shape: ShapeName): Promise<string[]> {
    const digests: string[] = []
    const model = new WatchedModel(this.#fake, ({ system, user }) =>
      digests.push(
        createHash('sha256')
          .update(JSON.stringify([system, user]))
          .digest('hex'),
      ),
    )
    await this.#run(this.#engine.prepare(shapes[shape], model))
    return digests.sort()
  }

  /** Graphs one after another, without waiting for the model. */
  async oneByOne(shape: ShapeName, graphs: number): Promise<Spent> {
    const execute = this.#execute(shape, this.#fake)
    return await spent(async () => {
      for (let graph = 0; graph < graphs; graph += 1) await this.#run(execute)
    })
  }

  /** Graphs that all start at once, without waiting for the model. */
  async atOnce(shape: ShapeName, graphs: number): Promise<Spent> {
    const execute = this.#execute(shape, this.#fake)
    return await spent(() => Promise.all(Array.from({ length: graphs }, () => this.#run(execute))))
  }

  /** Milliseconds for one graph with slow calls. */
  async slowGraph(shape: ShapeName): Promise<number> {
    const execute = this.#execute(shape, this.#slow)
    return (await spent(() => this.#run(execute))).wallMs
  }

  /** Milliseconds for such calls, one after another and without an engine. Timers tend to be late. */
  async slowCalls(calls: number): Promise<number> {
    const request = { system: '', user: '', decoding: paperDecoding }
    const { wallMs } = await spent(async () => {
      for (let call = 0; call < calls; call += 1) await this.#slow.ask(request)
    })
    return wallMs
  }

  async memory(shape: ShapeName, graphs: number): Promise<Memory> {
    for (let warm = 0; warm < 3; warm += 1) await this.atOnce(shape, Math.ceil(graphs / 10))
    collect()
    const start = process.memoryUsage()
    let [rss, heap, live, calls] = [0, 0, 0, 0]
    const sample = () => {
      calls += 1
      if (calls % 8 !== 0) return
      const now = process.memoryUsage()
      rss = Math.max(rss, now.rss - start.rss)
      heap = Math.max(heap, now.heapUsed - start.heapUsed)
    }
    const full = () => {
      collect()
      live = process.memoryUsage().heapUsed - start.heapUsed
    }
    const execute = this.#engine.prepare(shapes[shape], new WatchedModel(this.#slow, sample, graphs, full))
    await Promise.all(Array.from({ length: graphs }, () => this.#run(execute)))
    // Timers that just fired may keep their results alive until the next turn.
    await new Promise((resolve) => setTimeout(resolve, 100))
    collect()
    const left = process.memoryUsage().heapUsed - start.heapUsed
    const perGraph = (bytes: number) => bytes / 1024 / graphs
    return {
      peakRss: perGraph(rss),
      peakHeap: perGraph(heap),
      liveHeap: perGraph(live),
      left: perGraph(left),
    }
  }

  #execute(shape: ShapeName, model: ChatModel): () => Promise<unknown> {
    const known = this.#prepared.get(model) ?? new Map<ShapeName, () => Promise<unknown>>()
    this.#prepared.set(model, known)
    const execute = known.get(shape) ?? this.#engine.prepare(shapes[shape], model)
    known.set(shape, execute)
    return execute
  }

  /** An engine without the right answer has not done the work. */
  async #run(execute: () => Promise<unknown>): Promise<unknown> {
    const result = await execute()
    if (this.#engine.answerOf(result) !== 'A') throw new Error(`No answer: ${JSON.stringify(result)}`)
    return result
  }
}

async function spent(work: () => Promise<unknown>): Promise<Spent> {
  const start = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - start }
}

function collect(): void {
  if (globalThis.gc === undefined) throw new Error('Measuring memory needs --expose-gc.')
  globalThis.gc()
}
