import { APICallError, type LanguageModelV2, type LanguageModelV3 } from '@ai-sdk/provider'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { fromLanguageModel, type LanguageModel } from './ai-sdk.ts'
import { paperDecoding } from './chat-model.ts'

const request = { system: 'Be brief.', user: '{"question":"?"}', decoding: paperDecoding }
type Options = Parameters<LanguageModelV3['doGenerate']>[0]

/** A scripted version 3 model. */
function v3(generate: (options: Options) => unknown, specificationVersion = 'v3'): LanguageModel {
  const doGenerate = async (options: Options) => generate(options)
  return { specificationVersion, provider: 'acme', modelId: 'm', doGenerate } as unknown as LanguageModel
}

const healthy = {
  content: [
    { type: 'text', text: '{"analysis":"x",' },
    { type: 'text', text: '"answer":"A"}' },
  ],
  finishReason: { unified: 'stop', raw: 'end_turn' },
  usage: {
    inputTokens: { total: 20, noCache: 12, cacheRead: 8, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  },
  response: { modelId: 'm-2026' },
  warnings: [],
}

test('accepts models of versions 2 and 3', () => {
  expectTypeOf<LanguageModelV2>().toExtend<LanguageModel>()
  expectTypeOf<LanguageModelV3>().toExtend<LanguageModel>()
})

test('maps request and answer', async () => {
  const asked: Options[] = []
  const model = fromLanguageModel(
    v3((options) => {
      asked.push(options)
      return healthy
    }),
    { providerOptions: { acme: { thinking: 'off' } } },
  )
  expect(model.identity).toEqual({ provider: 'acme', model: 'm', options: { acme: { thinking: 'off' } } })
  expect(await model.ask(request)).toMatchObject({
    ok: true,
    text: '{"analysis":"x","answer":"A"}',
    finish: 'stop',
    usage: { input: 20, cachedInput: 8, output: 5 },
    warnings: [],
    servedModel: 'm-2026',
  })
  expect(asked).toMatchObject([
    {
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: '{"question":"?"}' }] },
      ],
      temperature: 0,
      maxOutputTokens: 2048,
      responseFormat: { type: 'json' },
      providerOptions: { acme: { thinking: 'off' } },
    },
  ])
  expect(asked[0]).not.toHaveProperty('reasoning')
})

test('version 2 counts in plain numbers; version 4 has a switch for thinking', async () => {
  const usage = {
    inputTokens: 20,
    outputTokens: 5,
    totalTokens: 25,
    cachedInputTokens: 8,
    reasoningTokens: 3,
  }
  const old = fromLanguageModel(v3(() => ({ ...healthy, finishReason: 'length', usage }), 'v2'))
  expect(await old.ask(request)).toMatchObject({
    finish: 'length',
    usage: { input: 20, cachedInput: 8, output: 5 },
    warnings: ['thinking'],
  })
  let reasoning: unknown
  const young = v3((options) => {
    reasoning = (options as { reasoning?: string }).reasoning
    return healthy
  }, 'v4')
  await fromLanguageModel(young).ask(request)
  expect(reasoning).toBe('none')
})

test('handles missing or nonsensical usage, and thinking in the content', async () => {
  const replies = [
    { ...healthy, usage: { inputTokens: undefined, outputTokens: undefined } },
    { ...healthy, usage: { inputTokens: Number.NaN, outputTokens: 3 } },
    { ...healthy, content: [{ type: 'reasoning', text: 'hm' }, ...healthy.content] },
  ]
  const warnings = []
  for (const reply of replies) {
    const answer = await fromLanguageModel(v3(() => reply)).ask(request)
    if (answer.ok) warnings.push(...answer.warnings)
  }
  expect(warnings).toEqual(['usage_missing', 'usage_invalid', 'thinking'])
})

describe('failures', () => {
  const failing = (error: unknown) =>
    fromLanguageModel(
      v3(() => {
        throw error
      }),
    ).ask(request)
  const http = (statusCode: number, responseBody = '', message = 'refused') =>
    new APICallError({
      message,
      url: 'https://acme.example',
      requestBodyValues: {},
      statusCode,
      responseBody,
      responseHeaders: { 'retry-after': '2' },
    })

  test.each<[number, string, string]>([
    [401, '', 'unauthorized'],
    [402, '', 'payment_required'],
    [404, '', 'not_found'],
    [408, '', 'server_error'],
    [422, '', 'rejected'],
    [429, '', 'rate_limited'],
    [429, '{"error":{"message":"x","code":"insufficient_quota"}}', 'quota_exhausted'],
    [500, '', 'server_error'],
    [200, 'not JSON', 'bad_response'],
  ])('HTTP %d %s: %s', async (status, body, kind) => {
    expect(await failing(http(status, body))).toMatchObject({ ok: false, kind, status, retryAfter: '2' })
  })

  test('any other error is a failed connection', async () => {
    expect(await failing(new TypeError('fetch failed'))).toMatchObject({
      kind: 'network',
      message: 'fetch failed',
    })
    expect(await failing('text')).toMatchObject({ kind: 'network', message: 'text' })
    expect(await failing(undefined)).toMatchObject({ kind: 'network' })
  })

  test('likely keys are redacted', async () => {
    const reply = await failing(http(401, '', 'Incorrect API key: sk-canary1234567890'))
    expect(JSON.stringify(reply)).not.toContain('canary')
  })

  test('a model that ignores deadline and signal is abandoned', async () => {
    const deaf = v3(() => new Promise(() => {}))
    expect(await fromLanguageModel(deaf, { deadlineMs: 20 }).ask(request)).toMatchObject({ kind: 'timeout' })
    const abort = new AbortController()
    const asked = fromLanguageModel(deaf).ask(request, abort.signal)
    abort.abort()
    expect(await asked).toMatchObject({ kind: 'cancelled' })
    expect(await fromLanguageModel(deaf).ask(request, AbortSignal.abort())).toMatchObject({
      kind: 'cancelled',
    })
  })

  test('an error after the deadline is ignored', async () => {
    const late = v3(async () => {
      await new Promise((resolve) => setTimeout(resolve, 40))
      throw new Error('late')
    })
    expect(await fromLanguageModel(late, { deadlineMs: 5 }).ask(request)).toMatchObject({ kind: 'timeout' })
    await new Promise((resolve) => setTimeout(resolve, 60))
  })
})
