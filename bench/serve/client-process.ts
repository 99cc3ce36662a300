// Many official clients, in a separate process so that their work does not delay the server's event loop.
import OpenAI from 'openai'
import { cpuMillis } from './cpu-millis.ts'
import type { GivenGraph } from './critical-path.ts'

export interface ClientOrder {
  readonly url: string
  readonly clients: number
  readonly requestsEach: number
  readonly questions: readonly string[]
  /** Clients start at different times within this period, as real ones do. */
  readonly spreadMs: number
}

export interface ClientReport {
  readonly answered: readonly Answer[]
  /** By question; the last one that came. */
  readonly graphs: Readonly<Record<string, GivenGraph>>
  readonly failed: number
  readonly seconds: number
  readonly cpuMillis: number
}

export interface Answer {
  readonly question: string
  /** From calling the client's method to its result, so it includes the client's own work. */
  readonly ms: number
  /** Model calls behind it, as the server counted them; the bare one does not. */
  readonly calls?: number
}

/** The part of a completion's extension field that is read here. */
interface Organised {
  readonly graph: GivenGraph
  readonly usage: { readonly calls: number }
}

process.on('disconnect', () => process.exit())
process.on('message', async (order: ClientOrder) => process.send!(await run(order)))
process.send!('ready')

async function run(order: ClientOrder): Promise<ClientReport> {
  const { url, clients, requestsEach, questions, spreadMs } = order
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  const answered: Answer[] = []
  const graphs: Record<string, GivenGraph> = {}
  let failed = 0
  const cpuBefore = cpuMillis()
  const start = performance.now()
  const one = async (number: number) => {
    await new Promise((resolve) => setTimeout(resolve, (spreadMs * number) / clients))
    // No two clients ask the same question, so it identifies the endpoint's calls.
    const own = questions.filter((_, place) => place % clients === number)
    for (let round = 0; round < requestsEach; round += 1) {
      const question = own[round % own.length]!
      const begun = performance.now()
      try {
        const reply = await client.chat.completions.create({
          model: 'bench',
          messages: [{ role: 'user', content: question }],
        })
        const { magic } = reply as unknown as { magic?: Organised }
        // Nothing else of a reply is kept: whatever lives long has to be copied by the garbage collector.
        answered.push({ question, ms: performance.now() - begun, calls: magic?.usage.calls })
        if (magic !== undefined) graphs[question] = magic.graph
      } catch {
        failed += 1
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => one(number)))
  const seconds = (performance.now() - start) / 1000
  return { answered, graphs, failed, seconds, cpuMillis: cpuMillis() - cpuBefore }
}
