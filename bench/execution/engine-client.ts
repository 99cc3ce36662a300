import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { EngineName } from './engine.ts'
import type { EngineWork } from './engine-work.ts'

/** Most orders take a fraction of a second. */
const longestOrderMs = 120_000

/** An engine in its own process, so that engines share neither compiled code nor garbage. */
export class EngineClient {
  readonly name: EngineName
  readonly #process: ChildProcess

  private constructor(name: EngineName, process: ChildProcess) {
    this.name = name
    this.#process = process
  }

  static async start(name: EngineName, peerFolder: string): Promise<EngineClient> {
    const script = new URL('./engine-process.ts', import.meta.url)
    const child = fork(script, [name, peerFolder], { execArgv: ['--expose-gc'], env: quietEnvironment() })
    const client = new EngineClient(name, child)
    await client.#answer()
    return client
  }

  async ask<Order extends keyof EngineWork>(
    order: Order,
    ...values: Parameters<EngineWork[Order]>
  ): Promise<Awaited<ReturnType<EngineWork[Order]>>> {
    const answer = this.#answer()
    this.#process.send({ order, values })
    return (await answer) as Awaited<ReturnType<EngineWork[Order]>>
  }

  close(): void {
    this.#process.kill()
  }

  async #answer(): Promise<unknown> {
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(longestOrderMs)])
    try {
      const [answer] = await Promise.race([
        once(this.#process, 'message', { signal }),
        once(this.#process, 'exit', { signal }).then(([code]) => {
          throw new Error(`The process of ${this.name} ended with ${code}.`)
        }),
      ])
      if (answer.error !== undefined) throw new Error(`${this.name}: ${answer.error}`)
      return answer.result
    } finally {
      over.abort()
    }
  }
}

/** Without the user's keys and without telemetry. */
function quietEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'production',
    DO_NOT_TRACK: '1',
    LANGSMITH_TRACING: 'false',
    LANGCHAIN_TRACING_V2: 'false',
    MASTRA_TELEMETRY_DISABLED: '1',
  }
}
