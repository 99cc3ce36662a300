import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AskedQuestions } from '../src/evaluation/asked-questions.ts'
import { loadPolicy } from '../src/evaluation/trained-policy.ts'
import { emptyToolbox } from '../src/execution/toolbox.ts'
import { CallLimit } from '../src/models/call-limit.ts'
import type { ChatModel } from '../src/models/chat-model.ts'
import type { Price } from '../src/models/prices.ts'
import type { Offered } from '../src/serve/complete.ts'
import { type ServeOptions, serve } from '../src/serve/serve.ts'
import { Spending, type SpendingCaps } from '../src/serve/spending.ts'
import { tinyTaskSet } from './tiny-task-set.ts'
import { tinyModel, trainTiny } from './tiny-training.ts'

/** The tiny policy, trained once for a test file. */
export async function tinyPolicy() {
  const folder = mkdtempSync(join(tmpdir(), 'served-'))
  await trainTiny(folder)
  const policy = await loadPolicy(folder)
  return { policy, folder, remove: () => rmSync(folder, { recursive: true }) }
}

export type TinyPolicy = Awaited<ReturnType<typeof tinyPolicy>>

interface Given extends Partial<Omit<ServeOptions, 'limits'>> {
  readonly id?: string
  readonly model?: ChatModel
  readonly caps?: Partial<SpendingCaps>
  readonly price?: Price
  readonly dayFile?: string
  readonly limits?: Partial<ServeOptions['limits']>
}

export function offered({ policy }: TinyPolicy, given: Given = {}): Offered {
  const { id = 'tiny', model = tinyModel, caps, price, dayFile } = given
  return {
    ...{ id, policy, model, isSimulated: true, tools: emptyToolbox, limit: new CallLimit(1000) },
    questions: new AskedQuestions(policy.folder, policy.run, tinyTaskSet),
    spending: new Spending({ request: {}, day: {}, ...caps }, price, dayFile),
  }
}

/** A server over the tiny policy on a free port, with its log. */
export async function serveTiny(tiny: TinyPolicy, given: Given = {}) {
  const logged: Record<string, unknown>[] = []
  const server = await serve({
    ...{ host: '127.0.0.1', port: 0, policies: [offered(tiny, given)], log: (entry) => logged.push(entry) },
    ...given,
    limits: {
      ...{ bodyBytes: 100_000, rate: 1e6, rateOfAll: 1e6, running: 64, waiting: 64 },
      ...given.limits,
    },
  })
  return { ...server, baseURL: `${server.url}/v1`, logged }
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

export const asking = (question: string, more: object = {}) => ({
  ...{ model: 'tiny', messages: [{ role: 'user', content: question }], ...more },
})
