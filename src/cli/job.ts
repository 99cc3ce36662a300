import type { Configuration } from '../configuration/configuration.ts'
import { chooseEncoder } from '../encoder/choose-encoder.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { GivenSandbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import type { JsonObject } from '../library/json-value.ts'
import type { ChatModel } from '../models/chat-model.ts'
import { exitCode } from '../problem.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import { defaultConcurrency, type executionSettings } from '../settings/execution.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { defaultRunsFolder, type RunFolder, type RunRecord } from '../store/run-folder.ts'
import { machineSandbox, sandboxOfRun } from '../store/run-tools.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import {
  type ModelOptions,
  type ModelSource,
  modelSource,
  openChosenModel,
  sourceOfRun,
} from './options/model-options.ts'
import { type OpenedTasks, openTasks, type TaskSource } from './options/task-options.ts'
import { explain, UsageError } from './problem.ts'
import { isSimulatedModel } from './views/evaluation-table.ts'

/** What `--encoder` may say; a path is a folder with MiniLM's files. */
export type EncoderSource = 'auto' | 'minilm' | 'lexical' | { readonly folder: string }

/** What a command works on: tasks, a model, and all that is needed to run one with the other. */
export interface Job {
  readonly set: TaskSet
  readonly model: ChatModel
  readonly isSimulated: boolean
  readonly execution: Parameters<typeof executionSettings.parse>[0]
  readonly sandbox: GivenSandbox
  readonly tools: readonly Tool[]
  readonly concurrency: number
  readonly runs: string
  readonly configuration: Configuration | undefined
  /** Kept in the run's record, so that `reopenJob` finds all of this again. */
  readonly source: JsonObject
  close(): Promise<void>
}

export interface JobOptions extends ModelOptions {
  readonly concurrency?: number
  readonly runsDir?: string
}

interface JobSource {
  readonly tasks: TaskSource
  readonly model: ModelSource
}

/** Opens what flags and configuration say. `say` hears of what was decided for the user. */
export async function openJob(
  given: TaskSource,
  options: JobOptions & {
    /** `null` for none, whatever this machine has. */
    readonly sandbox?: null
  },
  say: (text: string) => void,
): Promise<Job> {
  const opened = await openTasks(given)
  for (const note of opened.notes) say(note)
  const { set, configuration, source: tasks } = opened
  const model = modelSource(options, modelOf(configuration))
  const { model: answering, close } = await openChosenModel(options, knownTasks(set), model)
  return {
    ...surroundings(configuration, options),
    set,
    sandbox: options.sandbox === null ? null : await machineSandbox(),
    tools: configuration?.tools ?? [],
    model: answering,
    isSimulated: isSimulated(answering),
    source: { tasks, model } satisfies JobSource as unknown as JsonObject,
    close,
  }
}

/**
 * Opens again what a run was begun with, with the tools that it had then: neither fewer nor more. Flags for the model count
 * instead of the run's, such as another key.
 */
export async function reopenJob(
  run: RunRecord,
  options: JobOptions,
  say: (text: string) => void,
): Promise<Job> {
  const source = sourceOf(run)
  const opened = await openTasks(source.tasks)
  return { ...(await reopen(run, opened, sourceOfRun(source.model, options), options, say)), set: opened.set }
}

export type JobToAsk = Omit<Job, 'set'> & Partial<Pick<Job, 'set'>>

/** The same for a question of one's own: where the run's tasks cannot be opened any more, it goes without them. */
export async function reopenToAsk(
  run: RunRecord,
  options: JobOptions,
  say: (text: string) => void,
): Promise<JobToAsk> {
  const source = run.source as unknown as JobSource | undefined
  if (source === undefined) {
    const isNamed = options.model !== undefined || options.replay !== undefined
    if (!isNamed && run.model.provider !== 'simulated')
      throw new UsageError(`The run ${run.name} was begun from code. Name the model to ask with --model.`)
    return reopen(run, {}, modelSource(options), options, say)
  }
  const opened = await openTasks(source.tasks).catch((error: unknown) => {
    const { code, message } = explain(error)
    if (code !== exitCode.usage) throw error
    say(
      `The run's questions cannot be opened: tools of your own are off, and the simulated model knows no answers. ${message}`,
    )
    return {}
  })
  return reopen(run, opened, sourceOfRun(source.model, options), options, say)
}

async function reopen(
  run: RunRecord,
  { set, configuration }: Partial<OpenedTasks>,
  model: ModelSource,
  options: JobOptions,
  say: (text: string) => void,
): Promise<JobToAsk> {
  const sandbox = await sandboxOfRun(run.tools)
  if (sandbox instanceof SandboxUnavailable) say(`Tools that run programs are off: ${sandbox.message}`)
  const known = set === undefined ? [] : knownTasks(set)
  const { model: answering, close } = await openChosenModel(options, known, model)
  return {
    ...surroundings(configuration, { concurrency: run.concurrency, ...options }),
    set,
    sandbox,
    tools: (configuration?.tools ?? []).filter(({ name }) => run.tools?.off[name] === undefined),
    execution: run.execution,
    model: answering,
    isSimulated: isSimulated(answering),
    source: (run.source ?? {}) as JsonObject,
    close,
  }
}

function sourceOf({ name, source }: RunRecord): JobSource {
  if (source !== undefined) return source as unknown as JobSource
  throw new UsageError(
    `The run ${name} was begun from code, so its tasks are not known here. Call \`train\`, \`evaluate\` or \`solve\` from code.`,
  )
}

function surroundings(
  configuration: Configuration | undefined,
  options: Pick<JobOptions, 'concurrency' | 'runsDir'>,
) {
  const configured = configuration?.model
  const prices = configured === undefined || configured === 'simulated' ? undefined : configured.prices
  return {
    execution: { ...configuration?.execution, ...(prices === undefined ? {} : { prices }) },
    concurrency: options.concurrency ?? configuration?.concurrency ?? defaultConcurrency,
    runs: options.runsDir ?? configuration?.runsDir ?? defaultRunsFolder(),
    configuration,
  }
}

function modelOf(configuration: Configuration | undefined) {
  const model = configuration?.model
  if (model === undefined || model === 'simulated') return model
  const { prices: _, ...settings } = model
  return settings
}

/** By who answers, or did when it was recorded: what a recording of the simulated model says is simulated, too. */
function isSimulated({ identity: { provider, model } }: ChatModel): boolean {
  return isSimulatedModel(`${provider}/${model}`)
}

export async function openEncoder(
  source: EncoderSource,
  say: (text: string) => void,
): Promise<FrozenTextEncoder> {
  const { encoder, message } = await chooseEncoder({
    ...(typeof source === 'string' ? { encoder: source } : { modelFolder: source.folder }),
    onProblem: say,
  })
  say(message)
  return encoder
}

/** The tasks of a run and the configuration that they came from, for commands that ask no model. */
export async function openTasksOfRun(folder: RunFolder): Promise<OpenedTasks> {
  return openTasks(sourceOf(folder.readRecord()).tasks)
}
