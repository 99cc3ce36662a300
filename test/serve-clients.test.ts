// Unmodified third-party clients against the server.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { solve } from '../src/evaluation/solve.ts'
import { emptyToolbox } from '../src/execution/toolbox.ts'
import { serveTiny, type TinyPolicy, tinyPolicy } from './served.ts'
import { tinyTaskSet } from './tiny-task-set.ts'
import { tinyModel } from './tiny-training.ts'

const token = 'a token of sufficient length'.replaceAll(' ', '-')
const task = tinyTaskSet.splits['train']!.tasks[0]!
const { question } = task
let tiny: TinyPolicy
let server: Awaited<ReturnType<typeof serveTiny>>
let expected: Awaited<ReturnType<typeof solve>>

beforeAll(async () => {
  tiny = await tinyPolicy()
  server = await serveTiny(tiny, { token })
  expected = await solve({ policy: tiny.policy, task, model: tinyModel, tools: emptyToolbox })
})
afterAll(async () => {
  await server.close(0)
  tiny.remove()
})

const total = () => expected.usage.input + expected.usage.output

describe('openai', () => {
  const client = (apiKey = token) => new OpenAI({ baseURL: server.baseURL, apiKey, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: question }]

  test('plain', async () => {
    const completion = await client().chat.completions.create({ model: 'tiny', messages, temperature: 0.2 })
    expect(completion.choices).toMatchObject([
      { index: 0, message: { role: 'assistant', content: expected.answer }, finish_reason: 'stop' },
    ])
    expect(completion.usage).toMatchObject({
      prompt_tokens: expected.usage.input,
      completion_tokens: expected.usage.output,
      total_tokens: total(),
    })
    expect((completion as unknown as { magic: object }).magic).toMatchObject({
      ...{ run: 'tiny', simulated: true, guess: false, status: 'answered', cost: 'unpriced' },
      graph: { units: expected.graph.units },
    })
  })

  test('streamed, with usage and progress', async () => {
    const stream = await client().chat.completions.create({
      ...{ model: 'tiny', messages, stream: true, stream_options: { include_usage: true } },
    })
    let content = ''
    const progress: { type: string }[] = []
    let usage: unknown
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? ''
      const { magic } = chunk as unknown as { magic?: { progress?: { type: string } } }
      if (magic?.progress !== undefined) progress.push(magic.progress)
      usage = chunk.usage ?? usage
    }
    expect(content).toBe(expected.answer)
    expect(usage).toMatchObject({ total_tokens: total() })
    expect(progress.filter(({ type }) => type === 'unit-added')).toEqual(
      expected.graph.units.map((unit) => ({ type: 'unit-added', ...unit })),
    )
    expect(progress.filter(({ type }) => type === 'node-end')).toHaveLength(expected.packets.length)
  })

  test('its stream helper', async () => {
    const runner = client().chat.completions.stream({ model: 'tiny', messages })
    const { choices } = await runner.finalChatCompletion()
    expect(choices[0]?.message.content).toBe(expected.answer)
  })

  test('models and errors, by their classes', async () => {
    expect((await client().models.list()).data).toMatchObject([
      { id: 'tiny', object: 'model', owned_by: 'magic' },
    ])
    expect(await client().models.retrieve('tiny')).toMatchObject({ id: 'tiny' })
    const ask = (body: object, apiKey?: string) =>
      client(apiKey).chat.completions.create({ model: 'tiny', messages, ...body })
    await expect(ask({ model: 'other' })).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    await expect(ask({}, 'wrong')).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    await expect(ask({ n: 3 })).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(ask({ n: 3 })).rejects.toMatchObject({ param: 'n', code: 'invalid_value' })
  })

  test('custom fields', async () => {
    const magic = { contract: 'option', options: ['42', '54'], seed: 5 }
    const body = { model: 'tiny', messages: [{ role: 'user' as const, content: '6 times 9?' }], magic }
    const completion = await client().chat.completions.create(body)
    expect(completion.choices[0]?.message.content).toMatch(/^[AB]$/)
    expect(completion).toMatchObject({ magic: { contract: 'option-label', seed: 5, guess: true } })
  })
})

describe('AI SDK', () => {
  const model = () =>
    createOpenAICompatible({ name: 'magic', baseURL: server.baseURL, apiKey: token, includeUsage: true })(
      'tiny',
    )

  test('plain', async () => {
    const { text, usage, finishReason } = await generateText({
      model: model(),
      prompt: question,
      maxRetries: 0,
    })
    expect({ text, finishReason }).toEqual({ text: expected.answer, finishReason: 'stop' })
    expect(usage.totalTokens).toBe(total())
  })

  test('streamed', async () => {
    const { text, usage } = streamText({ model: model(), prompt: question, maxRetries: 0 })
    expect(await text).toBe(expected.answer)
    expect((await usage).totalTokens).toBe(total())
  })

  test('custom fields', async () => {
    const magic = { magic: { contract: 'text', seed: 2 } }
    const include = { responseBody: true }
    const call = { model: model(), prompt: 'Why?', providerOptions: { magic }, include }
    expect((await generateText(call)).response.body).toMatchObject({
      magic: { contract: 'free-text', seed: 2 },
    })
  })
})

describe('LangChain', () => {
  const model = (more: object = {}) =>
    new ChatOpenAI({
      ...{ model: 'tiny', apiKey: token, configuration: { baseURL: server.baseURL }, maxRetries: 0, ...more },
    })

  test('plain', async () => {
    const { content, usage_metadata } = await model().invoke(question)
    expect(content).toBe(expected.answer)
    expect(usage_metadata?.total_tokens).toBe(total())
  })

  test('streamed', async () => {
    let content = ''
    let tokens = 0
    for await (const chunk of await model().stream(question)) {
      content += chunk.content
      tokens += chunk.usage_metadata?.total_tokens ?? 0
    }
    expect(content).toBe(expected.answer)
    expect(tokens).toBe(total())
  })

  test('custom fields and a conversation', async () => {
    const asked = model({ modelKwargs: { magic: { contract: 'text' } } })
    const { content } = await asked.invoke([
      ['system', 'Be brief.'],
      ['human', 'I have three apples.'],
      ['ai', 'Good.'],
      ['human', 'What do I have?'],
    ])
    expect(content).not.toBe('')
  })
})
