import { type EndpointSettings, OpenAICompatibleModel } from '../../src/models/http/openai-compatible.ts'

/** Our HTTP client for a fault server. */
export function faultClient(url: string, settings: Partial<EndpointSettings> = {}): OpenAICompatibleModel {
  return new OpenAICompatibleModel({
    provider: 'test',
    model: 'm',
    baseURL: new URL(url),
    thinkingOff: {},
    outputLimit: 'max_tokens',
    deadlineMs: 30_000,
    ...settings,
  })
}
