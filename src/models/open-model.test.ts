import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FaultServer } from '../../test/faults/fault-server.ts'
import { paperDecoding } from './chat-model.ts'
import { type ModelSettings, openModel } from './open-model.ts'
import { type ProviderName, providers } from './providers.ts'

const request = { system: 's', user: 'u', decoding: paperDecoding }

let server: FaultServer
beforeAll(async () => {
  server = await FaultServer.start()
})
afterAll(() => server.close())

/** The body a preset sends, with only its address changed. */
async function bodyOf(preset: ProviderName, settings: ModelSettings = {}) {
  server.script()
  const environment = { [providers[preset].apiKeyEnv]: 'sk-test' }
  const model = openModel({ preset, baseURL: server.url, model: 'm', ...settings }, environment)
  expect(await model.ask(request)).toMatchObject({ ok: true })
  await model.close()
  const [attempt] = server.attempts
  expect(attempt!.headers.authorization).toBe('Bearer sk-test')
  return JSON.parse(attempt!.body)
}

describe('providers', () => {
  test.each<[ProviderName, object]>([
    ['deepseek', { thinking: { type: 'disabled' }, max_tokens: 2048 }],
    ['alibaba', { enable_thinking: false, max_tokens: 2048 }],
    ['openai', { reasoning_effort: 'none', max_completion_tokens: 2048 }],
    ['ollama', { reasoning_effort: 'none', max_tokens: 2048 }],
    ['vllm', { chat_template_kwargs: { enable_thinking: false }, max_tokens: 2048 }],
    ['llama.cpp', { chat_template_kwargs: { enable_thinking: false }, max_tokens: 2048 }],
  ])('%s disables thinking and asks for JSON at temperature 0', async (preset, expected) => {
    const { messages, model, stream, temperature, response_format, ...rest } = await bodyOf(preset)
    expect(rest).toEqual(expected)
    expect([temperature, response_format, stream]).toEqual([0, { type: 'json_object' }, false])
  })

  test("has the paper's models", () => {
    const environment = { DEEPSEEK_API_KEY: 'sk-a', DASHSCOPE_API_KEY: 'sk-b' }
    expect(openModel({}, environment).identity).toEqual({
      provider: 'deepseek',
      model: 'deepseek-v4-flash',
      options: { thinking: { type: 'disabled' } },
    })
    expect(openModel({ preset: 'alibaba' }, environment).identity.model).toBe('qwen-flash')
  })

  test('a hosted dialect at another address is another provider without a list price', () => {
    const environment = { DASHSCOPE_API_KEY: 'sk-b' }
    const abroad = 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1'
    expect(openModel({ preset: 'alibaba', baseURL: abroad }, environment).identity.provider).toBe(
      'alibaba-compatible',
    )
    const moved = openModel({ preset: 'ollama', model: 'm', baseURL: 'http://127.0.0.1:9/v1' }, {})
    expect(moved.identity.provider).toBe('ollama')
  })

  test("extra fields are sent and change the model's identity", async () => {
    expect(await bodyOf('vllm', { extraBody: { seed: 3 } })).toMatchObject({ seed: 3 })
    const identity = openModel({ preset: 'vllm', model: 'm', extraBody: { seed: 3 } }, {}).identity
    expect(identity.options).toMatchObject({ seed: 3 })
  })
})

test('a key given instead of a variable name is not echoed', () => {
  expect(() => openModel({ preset: 'openai', apiKeyEnv: 'sk-canary-4711' }, {})).toThrow(/^(?!.*canary)/)
})

describe('errors include the remedy', () => {
  test.each<[string, ModelSettings, string]>([
    ['no key', {}, 'Set DEEPSEEK_API_KEY'],
    [
      'no key in the named variable',
      { preset: 'ollama', model: 'm', apiKeyEnv: 'MY_KEY' },
      'Set the variable that apiKeyEnv names',
    ],
    ['no key file', { apiKeyFile: '/nonexistent/key' }, 'ENOENT'],
    ['no model', { preset: 'ollama' }, 'name the one your server has loaded'],
    [
      'an unsafe address',
      { preset: 'vllm', model: 'm', baseURL: 'http://10.0.0.1/v1' },
      'allowUnsafeBaseURL',
    ],
    ['a field that the run sets', { extraBody: { messages: [] } }, 'set by the run'],
    ['a key among the fields', { extraBody: { api_key: 'sk-1' } }, 'do not belong here'],
    ['an unknown preset', { preset: 'other' as ProviderName }, 'deepseek'],
    ['an unknown setting', { apiKey: 'sk-secret' } as ModelSettings, 'apiKey'],
  ])('%s', (_, settings, remedy) => {
    expect(() => openModel(settings, {})).toThrow(remedy)
  })

  test('a key is never echoed', () => {
    expect(() => openModel({}, { DEEPSEEK_API_KEY: 'sk-with space' })).toThrow(/^(?!.*sk-with)/)
  })
})
