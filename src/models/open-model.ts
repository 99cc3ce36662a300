import { z } from 'zod'
import type { JsonObject } from '../library/json-value.ts'
import { Problem, validated } from '../problem.ts'
import { checkBaseURL } from './http/base-url.ts'
import { OpenAICompatibleModel } from './http/openai-compatible.ts'
import { type Provider, type ProviderName, providers } from './providers.ts'
import { ApiKey, readKeyFile } from './secret.ts'

const providerNames = Object.keys(providers) as [ProviderName, ...ProviderName[]]
const secretName =
  /^(?:x[-_])?(?:api[-_]?key|authorization|access[-_]?token|auth[-_]?token|secret|password)$/i
const ownFields = ['model', 'messages', 'stream', 'temperature', 'max_tokens', 'max_completion_tokens']

/** Which model to call, and where. Keys are referenced, never included. */
export const modelSettings = z.strictObject({
  preset: z.enum(providerNames).default('deepseek').describe('A known provider: sets address and dialect.'),
  model: z.string().min(1).optional().describe('Model name at the provider.'),
  baseURL: z.string().optional().describe("Base URL, without /chat/completions. Default: the preset's."),
  apiKeyEnv: z.string().min(1).optional().describe('Name of the environment variable with the key.'),
  apiKeyFile: z.string().min(1).optional().describe('File with the key, readable only by you (mode 600).'),
  allowUnsafeBaseURL: z
    .boolean()
    .default(false)
    .describe('Allow http: to another machine, and link-local addresses.'),
  deadlineSeconds: z
    .number()
    .positive()
    .max(3600)
    .default(120)
    .describe('Seconds for one attempt, including the body.'),
  extraBody: z
    .record(z.string(), z.json())
    .refine((body) => ownFields.every((name) => !Object.hasOwn(body, name)), {
      message: `these request fields are set by the run itself: ${ownFields.join(', ')}`,
    })
    // These fields end up in run records and ledger keys.
    .refine((body) => Object.keys(body).every((name) => !secretName.test(name)), {
      message: 'keys do not belong here, since this is stored with the run: use apiKeyEnv or apiKeyFile',
    })
    .optional()
    .describe('Further fields of the request body. Stored in run records, so no secrets.'),
})

export type ModelSettings = z.input<typeof modelSettings>

/**
 * Opens the model described by settings. Throws a `Problem` for invalid settings; makes no call. `keyless`: only the
 * model's identity is needed, since other processes call it.
 */
export function openModel(
  settings: ModelSettings = {},
  environment = process.env,
  keyless = false,
): OpenAICompatibleModel {
  const chosen = validated(modelSettings, settings, 'model')
  const preset: Provider = providers[chosen.preset]
  const model = chosen.model ?? preset.model
  if (model === undefined)
    throw new Problem(
      `The preset '${chosen.preset}' has no default model: name the one your server has loaded.`,
    )
  const baseURL = checkBaseURL(chosen.baseURL ?? preset.baseURL, chosen.allowUnsafeBaseURL)
  const key = keyless ? undefined : findKey(chosen, preset, environment)
  // A hosted provider's dialect at another address is another provider, with its own prices and answers.
  const elsewhere = preset.needsKey && baseURL.origin !== new URL(preset.baseURL).origin
  return new OpenAICompatibleModel({
    provider: elsewhere ? `${chosen.preset}-compatible` : chosen.preset,
    model,
    baseURL,
    thinkingOff: preset.thinkingOff,
    outputLimit: preset.outputLimit,
    quotaIsRate: preset.quotaIsRate,
    deadlineMs: chosen.deadlineSeconds * 1000,
    extraBody: chosen.extraBody as JsonObject | undefined,
    apiKey: key === undefined ? undefined : new ApiKey(key, baseURL.origin),
  })
}

function findKey(
  { preset: name, apiKeyEnv, apiKeyFile }: z.output<typeof modelSettings>,
  preset: Provider,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  if (apiKeyFile !== undefined) return readKeyFile(apiKeyFile)
  const key = environment[apiKeyEnv ?? preset.apiKeyEnv]?.trim()
  if (key !== undefined && key !== '') return key
  // A named variable must exist even if the provider needs no key. Its name is not repeated here: it may be the key
  // itself, given by mistake.
  if (apiKeyEnv !== undefined)
    throw missingKey(name, 'Set the variable that apiKeyEnv names (it takes a name, not the key)')
  if (preset.needsKey) throw missingKey(name, `Set ${preset.apiKeyEnv}`)
  return undefined
}

function missingKey(preset: string, remedy: string): Problem {
  return new Problem(
    `No API key for ${preset}. ${remedy}, name a key file with apiKeyFile, or run with the simulated model.`,
  )
}
