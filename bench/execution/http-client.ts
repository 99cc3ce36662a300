import { fork } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'undici'
import { paperDecoding } from '../../src/models/chat-model.ts'
import { OpenAICompatibleModel } from '../../src/models/http/openai-compatible.ts'
import { Samples } from '../bench.ts'
import { task } from './shapes.ts'

/** The engine's default concurrency. */
const inFlight = 8

const messages = {
  system: 'Judge the material and reply with one JSON object. '.repeat(40),
  user: JSON.stringify(task),
}

/** Our client against bare undici, both in this process, with the same server in another. */
export async function measureHttpClient(rounds: number, requests: number) {
  const server = fork(new URL('./completion-server.ts', import.meta.url))
  const [port] = (await once(server, 'message')) as [number]
  const url = `http://127.0.0.1:${port}/v1`
  const model = new OpenAICompatibleModel({
    provider: 'bench',
    model: 'fake',
    baseURL: new URL(url),
    thinkingOff: {},
    outputLimit: 'max_tokens',
  })
  const clients = { magic: () => askOurs(model), undici: () => askUndici(url) }
  const measured = { magic: new HttpTimes(), undici: new HttpTimes() }
  try {
    for (const ask of Object.values(clients)) await send(ask, 2 * requests, new HttpTimes())
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? (['magic', 'undici'] as const) : (['undici', 'magic'] as const)
      for (const client of order) await send(clients[client], requests, measured[client])
    }
  } finally {
    await model.close()
    server.disconnect()
  }
  const { magic, undici } = measured
  return {
    figures: {
      http_client_vs_undici: undici.wallMicros.median / magic.wallMicros.median,
      http_client_cpu_vs_undici: magic.cpuMicros.median / undici.cpuMicros.median,
    },
    details: { inFlight, magic: magic.summary(), undici: undici.summary() },
  }
}

/** Microseconds per request. */
class HttpTimes {
  readonly wallMicros = new Samples()
  readonly cpuMicros = new Samples()

  summary() {
    return {
      requestsPerSecond: Math.round(1e6 / this.wallMicros.median),
      wallMicros: this.wallMicros.summary(),
      cpuMicros: this.cpuMicros.summary(),
    }
  }
}

async function askOurs(model: OpenAICompatibleModel): Promise<string> {
  const reply = await model.ask({ ...messages, decoding: paperDecoding })
  if (!reply.ok) throw new Error(reply.message)
  return reply.text
}

/** The minimum that gets the text: no deadline, no body limit, no checks, no usage. */
async function askUndici(url: string): Promise<string> {
  const response = await request(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'fake',
      messages: [
        { role: 'system', content: messages.system },
        { role: 'user', content: messages.user },
      ],
      response_format: { type: 'json_object' },
      temperature: 0,
      max_tokens: 2048,
      stream: false,
    }),
  })
  const { choices } = (await response.body.json()) as { choices: { message: { content: string } }[] }
  return choices[0]!.message.content
}

async function send(ask: () => Promise<string>, requests: number, times: HttpTimes): Promise<void> {
  const start = performance.now()
  const before = process.cpuUsage()
  let left = requests
  const sender = async () => {
    while (left > 0) {
      left -= 1
      if ((await ask()) === '') throw new Error('An empty text.')
    }
  }
  await Promise.all(Array.from({ length: inFlight }, sender))
  const { user, system } = process.cpuUsage(before)
  times.wallMicros.add((1000 * (performance.now() - start)) / requests)
  times.cpuMicros.add((user + system) / requests)
}
