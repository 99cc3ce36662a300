import type { Dialect } from './http/openai-wire.ts'

/** A provider with known address and dialect. Settings can override all of it. */
export interface Provider extends Dialect {
  readonly baseURL: string
  /** The environment variable that holds the key. */
  readonly apiKeyEnv: string
  readonly needsKey: boolean
  /** The default model. Absent if the user's own server decides. */
  readonly model?: string
  readonly quotaIsRate?: boolean
}

/** Open-weight models switch thinking by a variable of their chat template. */
const templateSwitch = { chat_template_kwargs: { enable_thinking: false } }

export const providers = {
  deepseek: {
    baseURL: 'https://api.deepseek.com',
    apiKeyEnv: 'DEEPSEEK_API_KEY',
    needsKey: true,
    model: 'deepseek-v4-flash',
    thinkingOff: { thinking: { type: 'disabled' } },
  },
  alibaba: {
    baseURL: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    apiKeyEnv: 'DASHSCOPE_API_KEY',
    needsKey: true,
    model: 'qwen-flash',
    thinkingOff: { enable_thinking: false },
    // "Allocated quota exceeded" means tokens per minute; an account without money gets 400 Arrearage.
    quotaIsRate: true,
  },
  openai: {
    baseURL: 'https://api.openai.com/v1',
    apiKeyEnv: 'OPENAI_API_KEY',
    needsKey: true,
    model: 'gpt-6-luna',
    thinkingOff: { reasoning_effort: 'none' },
    outputLimit: 'max_completion_tokens',
  },
  ollama: {
    baseURL: 'http://127.0.0.1:11434/v1',
    apiKeyEnv: 'OLLAMA_API_KEY',
    needsKey: false,
    thinkingOff: { reasoning_effort: 'none' },
  },
  vllm: {
    baseURL: 'http://127.0.0.1:8000/v1',
    apiKeyEnv: 'VLLM_API_KEY',
    needsKey: false,
    thinkingOff: templateSwitch,
  },
  'llama.cpp': {
    baseURL: 'http://127.0.0.1:8080/v1',
    apiKeyEnv: 'LLAMA_API_KEY',
    needsKey: false,
    thinkingOff: templateSwitch,
  },
} as const satisfies Record<string, Provider>

export type ProviderName = keyof typeof providers
