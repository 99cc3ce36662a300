import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateText, type LanguageModel, streamText } from 'ai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modelAround, tinyModel, trainTiny } from '../../test/tiny-training.ts'
import { solve } from '../evaluation/solve.ts'
import { loadPolicy, type TrainedPolicy } from '../evaluation/trained-policy.ts'
import { emptyToolbox } from '../execution/toolbox.ts'
import { cancelled } from '../models/chat-model.ts'
import { organisedModel } from './organised-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'organised-model-'))
let policy: TrainedPolicy

beforeAll(async () => {
  await trainTiny(folder)
  policy = await loadPolicy(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

async function all<Part>(stream: AsyncIterable<Part>): Promise<Part[]> {
  const parts: Part[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

const tools = emptyToolbox
const prompt = 'What is 6 times 7?'

test('is an AI SDK language model, also by its types', async () => {
  const model: LanguageModel = organisedModel({ policy, model: tinyModel, tools })
  const { text, usage, providerMetadata, finishReason } = await generateText({ model, prompt })
  const solved = await solve({ policy, task: { question: prompt }, model: tinyModel, tools })
  expect(text).toBe(solved.answer)
  expect(finishReason).toBe('stop')
  expect(usage).toMatchObject({ inputTokens: solved.usage.input, outputTokens: solved.usage.output })
  expect(providerMetadata?.['magic']).toMatchObject({
    ...{ status: 'answered', simulated: true, guess: true, cost: solved.cost },
    graph: { units: solved.graph.units },
    trace: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

test('streams the answer, and progress on request', async () => {
  const model = organisedModel({ policy, model: tinyModel, tools })
  const magic = { contract: 'text', seed: 3 }
  const stream = streamText({ model, prompt, includeRawChunks: true, providerOptions: { magic } })
  const parts = await all(stream.fullStream)
  const raw = parts.flatMap((part) => (part.type === 'raw' ? [part.rawValue as { type: string }] : []))
  const added = raw.filter(({ type }) => type === 'unit-added')
  const ended = raw.filter(({ type }) => type === 'node-end')
  const metadata = (await stream.finalStep).providerMetadata?.['magic'] as { graph: { units: unknown[] } }
  expect(added).toHaveLength(metadata.graph.units.length)
  expect(ended.length).toBeGreaterThan(added.length)
  expect(metadata).toMatchObject({ contract: 'free-text', seed: 3 })
  const plain = await generateText({ model, prompt, providerOptions: { magic } })
  expect(await stream.text).toBe(plain.text)
})

test('earlier messages are public context', async () => {
  const seen: string[] = []
  const listening = modelAround((request, signal) => {
    seen.push(request.user)
    return tinyModel.ask(request, signal)
  })
  const model = organisedModel({ policy, model: listening, tools })
  await generateText({
    model,
    instructions: 'Answer in whole numbers.',
    messages: [
      { role: 'user', content: 'I have 3 apples.' },
      { role: 'assistant', content: 'Good.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How many are ' },
          { type: 'text', text: 'left after one?' },
        ],
      },
    ],
  })
  for (const request of seen) {
    expect(request).toContain('"question":"How many are left after one?"')
    expect(request).toContain(
      JSON.stringify(['Answer in whole numbers.', 'User: I have 3 apples.', 'Assistant: Good.']).slice(1, -1),
    )
  }
})

test('cancelling stops the underlying calls, plain and streamed', async () => {
  for (const isStreamed of [false, true]) {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const endless = modelAround(async (_request, signal) => {
      begun.resolve()
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      ended.resolve()
      return cancelled
    })
    const model = organisedModel({ policy, model: endless, tools })
    const leaving = new AbortController()
    const call = { model, prompt, abortSignal: leaving.signal, maxRetries: 0 }
    const asked = isStreamed
      ? all(streamText({ ...call, onError: () => {} }).fullStream).then((parts) => parts.at(-1)?.type)
      : generateText(call).catch((error: Error) => error.name)
    await begun.promise
    leaving.abort()
    expect(['AbortError', 'abort']).toContain(await asked)
    await ended.promise
  }
})

test('unsupported features are refused', async () => {
  const model = organisedModel({ policy, model: tinyModel, tools })
  const user = [{ role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }]
  const refused: [object, RegExp][] = [
    [{ prompt: user, tools: [{}] }, /tools/],
    [{ prompt: user, responseFormat: { type: 'json' } }, /structured output/],
    [{ prompt: [] }, /no question/],
    [
      { prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }, { type: 'file' }] }] },
      /'prompt.0.content.1.type': only text parts are supported here, not "file"/,
    ],
    [{ prompt: user, providerOptions: { magic: { contract: 'poem' } } }, /contract/],
    [{ prompt: user, providerOptions: { magic: { seeds: 1 } } }, /seeds/],
  ]
  for (const [call, message] of refused) {
    await expect(model.doGenerate(call as never)).rejects.toThrow(message)
    await expect(model.doStream(call as never)).rejects.toThrow(message)
  }
})
