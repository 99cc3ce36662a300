import { type Command, Option } from 'commander'
import { z } from 'zod'
import type { ChatModel } from '../execution/models/chat-model.ts'
import { modelSettings, openModel } from '../execution/models/open-model.ts'
import { presets } from '../execution/models/presets.ts'
import { RecordingModel } from '../execution/models/recording.ts'
import { ReplayModel } from '../execution/models/replay.ts'
import { SimulatedServer } from '../execution/models/simulated/server.ts'
import { simulatedModelName } from '../execution/models/simulated/simulator.ts'
import { readKnownTasks } from './known-tasks-file.ts'
import { wholeNumber } from './option-values.ts'
import { UsageError } from './problem.ts'

export interface ModelOptions {
  readonly model: string
  readonly modelName?: string
  readonly baseUrl?: string
  readonly apiKeyEnv?: string
  readonly apiKeyFile?: string
  readonly allowUnsafeBaseUrl?: boolean
  readonly record?: string
  readonly replay?: string
  readonly simulatedSeed: number
  readonly simulatedTasks?: string
}

/** The flags that say which model answers. Keys are named, never given: a flag would end in the shell's history. */
export function addModelOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--model <provider>', 'who answers; `simulated` needs no key and its answers are simulated')
        .choices([simulatedModelName, ...Object.keys(presets)])
        .default(simulatedModelName)
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
      '--simulated-tasks <file>',
      'tasks whose answers the simulated model knows (JSONL); it guesses at others',
    )
}

/** A model and whatever was started for it. */
export interface OpenedModel {
  readonly model: ChatModel
  close(): Promise<void>
}

export async function openChosenModel(options: ModelOptions): Promise<OpenedModel> {
  if (options.replay !== undefined) {
    if (options.record !== undefined) throw new UsageError('Use either --record or --replay, not both.')
    const model = await fixable(() => ReplayModel.open(options.replay!))
    return { model, close: async () => {} }
  }
  const { model, close } = await openAnswering(options)
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

async function openAnswering(options: ModelOptions): Promise<OpenedModel> {
  if (options.model === simulatedModelName) {
    const idle = (['baseUrl', 'modelName', 'apiKeyEnv', 'apiKeyFile'] as const).find(
      (name) => options[name] !== undefined,
    )
    if (idle !== undefined) {
      const flag = `--${idle.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      throw new UsageError(
        `${flag} has no effect on the simulated model. Name the provider with --model as well.`,
      )
    }
    // Through HTTP, so that what is shown without a key is what a key would run.
    const { simulatedSeed: seed, simulatedTasks: file } = options
    const tasks = file === undefined ? [] : await readKnownTasks(file)
    const server = await SimulatedServer.start({ seed, tasks })
    const model = await fixable(() =>
      openModel({ preset: 'vllm', model: simulatedModelName, baseURL: server.url }, {}),
    )
    return {
      model,
      async close() {
        await model.close()
        await server.close()
      },
    }
  }
  const { model: preset, modelName, baseUrl, apiKeyEnv, apiKeyFile, allowUnsafeBaseUrl } = options
  const settings = modelSettings.safeParse({
    preset,
    ...(modelName !== undefined && { model: modelName }),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    ...(apiKeyFile !== undefined && { apiKeyFile }),
    ...(allowUnsafeBaseUrl === true && { allowUnsafeBaseURL: true }),
  })
  if (!settings.success) throw new UsageError(z.prettifyError(settings.error))
  const model = await fixable(() => openModel(settings.data))
  return { model, close: () => model.close() }
}

/** What opening a model refuses, a person can mend: the message says how, with flags where it names settings. */
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
      .replaceAll('allowUnsafeBaseURL', '--allow-unsafe-base-url')
      .replace(
        'name the one that your server has loaded',
        'name the one that your server has loaded with --model-name',
      )
    throw new UsageError(flags, { cause: error })
  }
}
