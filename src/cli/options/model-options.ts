import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import type { ChatModel } from '../../models/chat-model.ts'
import { type ModelSettings, modelSettings, openModel } from '../../models/open-model.ts'
import { type ProviderName, providers } from '../../models/providers.ts'
import { RecordingModel, ReplayModel } from '../../models/recording.ts'
import type { KnownTask } from '../../simulator/model/known-task.ts'
import { simulatedModelName } from '../../simulator/model/simulator.ts'
import { type FaultRates, parseFaultRates } from '../../simulator/server/faults.ts'
import { openSimulated } from '../../simulator/server/open-simulated.ts'
import { UsageError } from '../problem.ts'
import { readKnownTasks } from './known-tasks-file.ts'
import { wholeNumber } from './option-values.ts'

export interface ModelOptions {
  readonly model?: string
  readonly modelName?: string
  readonly baseUrl?: string
  readonly apiKeyEnv?: string
  readonly apiKeyFile?: string
  readonly allowUnsafeBaseUrl?: boolean
  readonly record?: string
  readonly replay?: string
  readonly simulatedSeed: number
  readonly simulatedLatency?: number
  readonly simulatedFault?: readonly string[]
  readonly simulatedTasks?: string
}

/** Flags for the model. A key is named, never given: flags end up in the shell's history. */
export function addModelOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--model <provider>',
        'who answers; `simulated`, the default, needs no key and its answers are simulated',
      )
        .choices([simulatedModelName, ...Object.keys(providers)])
        .env('MAGIC_MODEL'),
    )
    .addOption(new Option('--model-name <name>', 'model at the provider').env('MAGIC_MODEL_NAME'))
    .addOption(new Option('--base-url <url>', 'address up to /chat/completions').env('MAGIC_BASE_URL'))
    .option('--api-key-env <variable>', 'name of the variable that holds the key')
    .option('--api-key-file <file>', 'file of mode 600 that holds the key')
    .option('--allow-unsafe-base-url', 'allow http: to another machine, and link-local addresses')
    .option('--record <file>', 'write every request and answer to a file')
    .option('--replay <file>', 'answer from a recording, without a key or a network')
    .option('--simulated-seed <n>', 'seed of the simulated model', wholeNumber(0), 0)
    .option(
      '--simulated-latency <ms>',
      'time that the simulated model takes for a typical answer',
      wholeNumber(0),
    )
    .option(
      '--simulated-fault <kind=rate...>',
      'share of its answers that fail, and how; see `magic simulate`',
    )
    .option(
      '--simulated-tasks <file>',
      'tasks whose answers the simulated model knows (JSONL); it guesses at others',
    )
}

/** A model and whatever was started for it. */
export interface OpenedModel {
  readonly model: ChatModel
  close(): Promise<void>
}

/** Which model answers, as plain data without a key, so that a resume can open it again. */
export type ModelSource =
  | {
      readonly kind: 'simulated'
      readonly seed: number
      readonly latencyMs: number
      readonly faults: FaultRates
    }
  | { readonly kind: 'endpoint'; readonly settings: ModelSettings }

/** Flags override the configuration; without either, the simulated model answers. */
export function modelSource(options: ModelOptions, configured?: 'simulated' | ModelSettings): ModelSource {
  if (options.model === undefined && configured !== undefined && configured !== 'simulated')
    return endpointSource(configured, options)
  const { model: preset = simulatedModelName } = options
  if (preset !== simulatedModelName) return endpointSource({ preset: preset as ProviderName }, options)
  refuseEndpointFlags(options)
  const { simulatedSeed: seed, simulatedLatency: latencyMs = 0, simulatedFault = [] } = options
  return { kind: 'simulated', seed, latencyMs, faults: parseFaultRates(simulatedFault) }
}

/** The run's model, unless flags name another. Flags may also change its endpoint, such as the key. */
export function sourceOfRun(source: ModelSource, options: ModelOptions): ModelSource {
  if (options.model !== undefined || options.replay !== undefined) return modelSource(options)
  if (source.kind === 'endpoint') return endpointSource(source.settings, options)
  refuseEndpointFlags(options)
  return source
}

function endpointSource(given: ModelSettings, options: ModelOptions): ModelSource {
  const { modelName, baseUrl, apiKeyEnv, apiKeyFile, allowUnsafeBaseUrl } = options
  const { apiKeyEnv: _, apiKeyFile: __, ...keyless } = given
  // A new place for the key replaces the old one, variable or file.
  const isElsewhere = apiKeyEnv !== undefined || apiKeyFile !== undefined
  const settings = modelSettings.safeParse({
    ...(isElsewhere ? keyless : given),
    ...(modelName !== undefined && { model: modelName }),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    // So that a resume finds it from anywhere.
    ...(apiKeyFile !== undefined && { apiKeyFile: resolve(apiKeyFile) }),
    ...(allowUnsafeBaseUrl === true && { allowUnsafeBaseURL: true }),
  })
  if (!settings.success) throw new UsageError(z.prettifyError(settings.error))
  return { kind: 'endpoint', settings: settings.data }
}

function refuseEndpointFlags(options: ModelOptions): void {
  const idle = (['baseUrl', 'modelName', 'apiKeyEnv', 'apiKeyFile'] as const).find(
    (name) => options[name] !== undefined,
  )
  if (idle === undefined) return
  const flag = `--${idle.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw new UsageError(
    `${flag} has no effect on the simulated model. Name the provider with --model as well.`,
  )
}

/** `known`: tasks whose answers the simulated model knows, unless a file names others. */
export async function openChosenModel(
  options: ModelOptions,
  known: readonly KnownTask[] = [],
  source: ModelSource = modelSource(options),
): Promise<OpenedModel> {
  if (options.replay !== undefined) {
    if (options.record !== undefined) throw new UsageError('Use either --record or --replay, not both.')
    const model = await fixable(() => ReplayModel.open(options.replay!))
    return { model, close: async () => {} }
  }
  const file = options.simulatedTasks
  const { model, close } = await openSource(source, file === undefined ? known : await readKnownTasks(file))
  if (options.record === undefined) return { model, close }
  const recording = await fixable(() => RecordingModel.open(model, options.record!)).catch(async (error) => {
    await close()
    throw error
  })
  return {
    model: recording,
    async close() {
      await recording.close()
      await close()
    },
  }
}

async function openSource(source: ModelSource, known: readonly KnownTask[]): Promise<OpenedModel> {
  if (source.kind === 'simulated') {
    const { seed, latencyMs, faults } = source
    return openSimulated({ tasks: known, seed, latencyMs, faults })
  }
  const model = await fixable(() => openModel(source.settings))
  return { model, close: () => model.close() }
}

/** Turns the refusals of a model's opening into usage errors that name flags instead of settings. */
async function fixable<T>(open: () => T | Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const { message, code, path } = error as NodeJS.ErrnoException
    if (code !== undefined && path !== undefined) {
      const why = code === 'ENOENT' ? 'there is no such file or folder' : `the system says ${code}`
      throw new UsageError(`${path} cannot be opened: ${why}. Choose another path.`, { cause: error })
    }
    const flags = message
      .replaceAll('apiKeyFile', '--api-key-file')
      .replaceAll('apiKeyEnv', '--api-key-env')
      .replaceAll('allowUnsafeBaseURL', '--allow-unsafe-base-url')
      .replace(
        'name the one that your server has loaded',
        'name the one that your server has loaded with --model-name',
      )
    throw new UsageError(flags, { cause: error })
  }
}
