import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import type { ChatModel } from '../../models/chat-model.ts'
import { type ModelSettings, modelSettings, openModel } from '../../models/open-model.ts'
import { type ProviderName, providers } from '../../models/providers.ts'
import { RecordingModel, ReplayModel } from '../../models/recording.ts'
import type { KnownTask } from '../../simulator/model/known-task.ts'
import { simulatedModelName } from '../../simulator/model/simulated-name.ts'
import { SimulatedModel } from '../../simulator/model/simulator.ts'
import type { FaultRates } from '../../simulator/server/faults.ts'
import type { OpenedSimulation } from '../../simulator/server/open-simulated.ts'
import type { ServerSettings } from '../../simulator/server/server.ts'
import { UsageError } from '../problem.ts'
import { flagOf, wholeNumber } from './option-values.ts'

export interface ModelOptions {
  readonly model?: string
  readonly modelName?: string
  readonly baseUrl?: string
  readonly apiKeyEnv?: string
  readonly apiKeyFile?: string
  readonly allowUnsafeBaseUrl?: boolean
  readonly record?: string
  readonly replay?: string
  readonly simulatedSeed?: number
  readonly simulatedLatency?: number
}

/** Model flags. No flag takes the key itself, because flags end up in the shell's history. */
export function addModelOptions<Given extends Command>(
  command: Given,
  usual: 'simulated' | 'of run' = 'simulated',
): Given {
  const isOfRun = usual === 'of run'
  return command
    .optionsGroup('Model:')
    .addOption(
      new Option(
        '--model <provider>',
        isOfRun
          ? "the model provider, instead of the run's; `simulated` needs no key and makes up its answers"
          : 'the model provider; the default, `simulated`, needs no key and makes up its answers',
      )
        .choices([simulatedModelName, ...Object.keys(providers)])
        .env('MAGIC_MODEL'),
    )
    .addOption(new Option('--model-name <name>', "the provider's name for the model").env('MAGIC_MODEL_NAME'))
    .addOption(
      new Option('--base-url <url>', 'endpoint address, without /chat/completions').env('MAGIC_BASE_URL'),
    )
    .option('--api-key-env <variable>', 'environment variable that holds the key')
    .option('--api-key-file <file>', 'file that holds the key (mode 600)')
    .option('--allow-unsafe-base-url', 'allow http to other machines, and link-local addresses')
    .option('--record <file>', 'write every request and reply to a file')
    .option('--replay <file>', 'answer from a recording, without key or network')
    .option(
      '--simulated-seed <n>',
      `seed of the simulated model (default: ${isOfRun ? "the run's" : 0})`,
      wholeNumber(0),
    )
    .option('--simulated-latency <ms>', 'how long a typical simulated answer takes', wholeNumber(0))
    .optionsGroup('')
}

/** Disposing of it closes the model. */
interface OpenedModel extends AsyncDisposable {
  readonly model: ChatModel
}

/** Which model to ask, as plain data without the key, so that a resume can open it again. */
export type ModelSource =
  | {
      readonly kind: 'simulated'
      readonly seed: number
      readonly latencyMs: number
      readonly faults: FaultRates
    }
  | { readonly kind: 'endpoint'; readonly settings: ModelSettings }

type ConfiguredModel = 'simulated' | (ModelSettings & { readonly prices?: unknown })

/** Flags override the configuration; the default is the simulated model. */
export function modelSource(options: ModelOptions, configured: ConfiguredModel = 'simulated'): ModelSource {
  const { model: preset, simulatedSeed: seed = 0, simulatedLatency: latencyMs = 0 } = options
  if (preset === undefined && configured !== 'simulated') {
    const { prices: _, ...settings } = configured
    return endpointSource(settings, options)
  }
  if (preset !== undefined && preset !== simulatedModelName)
    return endpointSource({ preset: preset as ProviderName }, options)
  refuseEndpointFlags(options)
  return { kind: 'simulated', seed, latencyMs, faults: {} }
}

/** The run's model, unless flags name another. Flags can also replace its endpoint or key, or how it is simulated. */
export function sourceOfRun(source: ModelSource, options: ModelOptions): ModelSource {
  if (options.model !== undefined || options.replay !== undefined) return modelSource(options)
  if (source.kind === 'endpoint') return endpointSource(source.settings, options)
  refuseEndpointFlags(options)
  const { simulatedSeed: seed = source.seed, simulatedLatency: latencyMs = source.latencyMs } = options
  return { ...source, seed, latencyMs }
}

function endpointSource(given: ModelSettings, options: ModelOptions): ModelSource {
  refuseFlags(options, ['simulatedSeed', 'simulatedLatency'], 'is only for the simulated model')
  const { modelName, baseUrl, apiKeyEnv, apiKeyFile, allowUnsafeBaseUrl } = options
  const isKeyElsewhere = apiKeyEnv !== undefined || apiKeyFile !== undefined
  const settings = modelSettings.safeParse({
    ...given,
    model: modelName ?? given.model,
    baseURL: baseUrl ?? given.baseURL,
    // A new key location replaces the old one. Absolute, so that a resume finds it from any folder.
    apiKeyEnv: isKeyElsewhere ? apiKeyEnv : given.apiKeyEnv,
    apiKeyFile: isKeyElsewhere ? apiKeyFile && resolve(apiKeyFile) : given.apiKeyFile,
    allowUnsafeBaseURL: allowUnsafeBaseUrl ?? given.allowUnsafeBaseURL,
  })
  if (!settings.success) throw new UsageError(z.prettifyError(settings.error))
  // Drops undefined fields from the run's record.
  return { kind: 'endpoint', settings: JSON.parse(JSON.stringify(settings.data)) }
}

function refuseEndpointFlags(options: ModelOptions): void {
  const why = 'has no effect on the simulated model. Choose a provider with --model as well'
  refuseFlags(options, ['baseUrl', 'modelName', 'apiKeyEnv', 'apiKeyFile'], why)
}

function refuseFlags(options: ModelOptions, names: readonly (keyof ModelOptions)[], why: string): void {
  const idle = names.find((name) => options[name] !== undefined)
  if (idle !== undefined) throw new UsageError(`${flagOf(idle)} ${why}.`)
}

/** `known`: the tasks whose answers the simulated model knows. */
export async function openChosenModel(
  options: ModelOptions,
  known: readonly KnownTask[] = [],
  source: ModelSource = modelSource(options),
): Promise<OpenedModel> {
  const { record, replay } = options
  if (replay !== undefined) {
    if (record !== undefined) throw new UsageError('Use either --record or --replay, not both.')
    return openedModel(await fixable(() => ReplayModel.open(replay)))
  }
  await using opening = new AsyncDisposableStack()
  const opened = opening.adopt(
    source.kind === 'simulated'
      ? await openSimulation({ tasks: known, ...source })
      : await fixable(() => openModel(source.settings)),
    (one) => one.close(),
  )
  const model = 'model' in opened ? opened.model : opened
  if (record === undefined) return openedModel(model, opening.move())
  const recording = await fixable(() => RecordingModel.open(model, record))
  opening.defer(() => recording.close())
  return openedModel(recording, opening.move())
}

function openedModel(model: ChatModel, closing?: AsyncDisposableStack): OpenedModel {
  return { model, [Symbol.asyncDispose]: async () => closing?.disposeAsync() }
}

/** Stands for a model that only workers ask: this process knows its identity but has no key. */
export async function unaskedModel(source: ModelSource, known: readonly KnownTask[]): Promise<OpenedModel> {
  const { identity } =
    source.kind === 'simulated'
      ? new SimulatedModel({ tasks: known, ...source })
      : await fixable(() => openModel(source.settings, process.env, true))
  const ask = () => Promise.reject(new Error('This process leaves model calls to workers.'))
  return openedModel({ identity, ask })
}

/** Turns errors from opening a model into usage errors that name flags instead of settings. */
async function fixable<T>(open: () => T | Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const { message, code, path } = error as NodeJS.ErrnoException
    if (code !== undefined && path !== undefined) {
      const why = code === 'ENOENT' ? 'no such file or folder' : `${code}`
      throw new UsageError(`Cannot open ${path}: ${why}. Choose another path.`, { cause: error })
    }
    const loaded = 'name the one that your server has loaded'
    const flags = message
      .replace(/apiKeyFile|apiKeyEnv|allowUnsafeBaseURL/g, (setting) => flagOf(setting.replace('URL', 'Url')))
      .replace(loaded, `${loaded} with --model-name`)
    throw new UsageError(flags, { cause: error })
  }
}

/** Imported late: only the simulated model needs its texts. */
async function openSimulation(settings: ServerSettings): Promise<OpenedSimulation> {
  const { openSimulated } = await import('../../simulator/server/open-simulated.ts')
  return openSimulated(settings)
}
