// Many clients of the official kind in a process of their own, so that their work does not delay the server.
import OpenAI from 'openai'

export interface ClientOrder {
  readonly url: string
  readonly clients: number
  readonly requestsEach: number
  readonly questions: readonly string[]
  /** Sent along, by question: what the bare server needs to know. */
  readonly graphs?: Readonly<Record<string, object>>
  /** Clients begin at different times within it, as they do in life. */
  readonly spreadMs: number
}

export interface ClientReport {
  readonly answered: readonly { readonly question: string; readonly ms: number; readonly magic?: Organised }[]
  readonly failed: number
  readonly seconds: number
}

interface Organised {
  readonly graph: { readonly units: readonly object[] }
  readonly usage: { readonly calls: number }
}

process.on('disconnect', () => process.exit())
process.on('message', async (order: ClientOrder) => process.send!(await run(order)))
process.send!('ready')

async function run({
  url,
  clients,
  requestsEach,
  questions,
  graphs,
  spreadMs,
}: ClientOrder): Promise<ClientReport> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  const answered: ClientReport['answered'][number][] = []
  let failed = 0
  const start = performance.now()
  const one = async (number: number) => {
    await new Promise((resolve) => setTimeout(resolve, (spreadMs * number) / clients))
    for (let round = 0; round < requestsEach; round += 1) {
      const question = questions[(number * requestsEach + round) % questions.length]!
      const begun = performance.now()
      try {
        const body = { model: 'bench', messages: [{ role: 'user' as const, content: question }] }
        const reply = await client.chat.completions.create({
          ...body,
          ...(graphs && { graph: graphs[question] }),
        } as typeof body)
        const { magic } = reply as unknown as { magic?: Organised }
        answered.push({ question, ms: performance.now() - begun, magic })
      } catch {
        failed += 1
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => one(number)))
  return { answered, failed, seconds: (performance.now() - start) / 1000 }
}
