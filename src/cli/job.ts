import { type Configuration, loadConfiguration } from '../configuration/configuration.ts'
import { isBuiltInTaskSet } from '../configuration/configuration-schema.ts'
import { chooseEncoder } from '../encoder/choose-encoder.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { askedOf } from '../evaluation/evaluate-organisation.ts'
import type { AskedIn } from '../evaluation/question-detail.ts'
import type { Tool } from '../execution/tools/tool.ts'
import type { JsonObject } from '../library/json-value.ts'
import { exitCode } from '../problem.ts'
import { SandboxPool } from '../sandbox/pool.ts'
import { ProgramSandbox } from '../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import { defaultConcurrency } from '../settings/execution.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { isSimulatedModel } from '../simulator/model/simulated-name.ts'
import { defaultRunsFolder, type RunFolder, type RunRecord } from '../store/run-folder.ts'
import { machineSandbox, sandboxOfRun, unstartedSandbox } from '../store/run-tools.ts'
import type { EngineOptions } from '../training/train-options.ts'
import {
  type ModelSource,
  modelSource,
  openChosenModel,
  sourceOfRun,
  unaskedModel,
} from './options/model-options.ts'
import { openPool, type PoolOptions, type PoolSource, poolSource } from './options/model-pool.ts'
import { type OpenedTasks, openTasks, type TaskSource } from './options/task-options.ts'
import { explain, UsageError } from './problem.ts'

/** The value of `--encoder`; `folder` holds MiniLM's files. */
export type EncoderSource = 'auto' | 'minilm' | 'lexical' | { readonly folder: string }

/** What a command works with: tasks, a model, and everything needed to run one on the other. */
export interface Job
  extends Required<Omit<EngineOptions, 'tools' | 'models' | 'budget' | 'clock' | 'signal'>>,
    Pick<EngineOptions, 'models'> {
  readonly tools: readonly Tool[]
  readonly isSimulated: boolean
  readonly runs: string
  readonly configuration: Configuration | undefined
  /** Stored in the run's record, so that `reopenJob` can open the same job again. */
  readonly source: JsonObject
  /** Closes its models. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface JobOptions extends PoolOptions {
  readonly concurrency?: number
  readonly runsDir?: string
  /** Workers run the graphs, so this process needs neither key nor sandbox. */
  readonly workers?: boolean
}

interface JobSource {
  readonly tasks: TaskSource
  readonly model: ModelSource
  readonly models?: PoolSource
}

type Say = (text: string) => void

/** Opens a job from flags and configuration. `say` reports decisions made on the user's behalf. */
export async function openJob(
  given: TaskSource,
  /** `sandbox: null` uses none, even if this machine has one. */
  options: JobOptions & { readonly sandbox?: null },
  say: Say,
): Promise<Job> {
  const { set, configuration, notes, source: tasks } = await openTasks(given)
  for (const note of notes) say(note)
  const prices = typeof configuration?.model === 'object' ? configuration.model.prices : undefined
  const models = poolSource(options, configuration?.models)
  const source = {
    ...{ tasks, model: modelSource(options, configuration?.model) },
    ...(models && { models }),
  } satisfies JobSource
  const job = await assemble({ set, configuration }, source, options, {
    sandbox:
      options.sandbox === null
        ? null
        : options.workers
          ? new ProgramSandbox(new SandboxPool())
          : await machineSandbox(),
    tools: configuration?.tools ?? [],
    execution: { ...configuration?.execution, ...(prices === undefined ? {} : { prices }) },
    source: source as unknown as JsonObject,
  })
  return { ...job, set }
}

/** Opens the job of an existing run, with exactly the tools it started with. Model flags, such as a new key, override the run's. */
export async function reopenJob(run: RunRecord, options: JobOptions, say: Say): Promise<Job> {
  const source = sourceOf(run)
  const opened = await openTasks(source.tasks)
  const models = {
    model: sourceOfRun(source.model, options),
    models: poolSource(options, undefined) ?? source.models,
  }
  return { ...(await reopen(run, opened, models, options, say)), set: opened.set }
}

export type JobToAsk = Omit<Job, 'set'> & Partial<Pick<Job, 'set'>>

/**
 * Opens a run's job to ask it the user's own questions. Works without the run's tasks if they are gone or the run is an
 * export; `config` then names a configuration with the user's tools.
 */
export async function reopenToAsk(
  run: RunRecord,
  { config, ...options }: JobOptions & { readonly config?: string },
  say: Say,
): Promise<JobToAsk> {
  const { tasks, model, models } = (run.source ?? {}) as unknown as Partial<JobSource>
  const isNamed = options.model !== undefined || options.replay !== undefined
  if (model === undefined && !isNamed && run.model.provider !== 'simulated')
    throw new UsageError(
      `Run ${run.name} was started from code, which does not record its model. Choose one with --model.`,
    )
  const chosen = { model: model === undefined ? modelSource(options) : sourceOfRun(model, options), models }
  if (config !== undefined)
    return reopen(run, { configuration: await loadConfiguration(config) }, chosen, options, say)
  return reopen(run, tasks === undefined ? {} : await tasksIfThere(tasks, say), chosen, options, say)
}

async function tasksIfThere(source: TaskSource, say: Say): Promise<Partial<OpenedTasks>> {
  try {
    return await openTasks(source)
  } catch (error) {
    const { code, message } = explain(error)
    if (code !== exitCode.usage) throw error
    say(`Cannot open the run's questions, so the simulated model knows no answers. ${message}`)
    return {}
  }
}

/** The part of a run's source that an export keeps: the model, and tasks found by name. Paths of this machine are dropped. */
export function exportableSource({ source }: RunRecord): JsonObject | undefined {
  if (source === undefined) return undefined
  const { tasks, model, models } = source as unknown as JobSource
  const isFoundByName =
    isBuiltInTaskSet(tasks.tasks) && tasks.config === undefined && tasks.data === undefined
  return { model, ...(models && { models }), ...(isFoundByName && { tasks }) } as unknown as JsonObject
}

async function reopen(
  run: RunRecord,
  opened: Partial<OpenedTasks>,
  models: Omit<JobSource, 'tasks'>,
  options: JobOptions,
  say: Say,
): Promise<JobToAsk> {
  const sandbox = options.workers && run.tools ? unstartedSandbox(run.tools) : await sandboxOfRun(run.tools)
  if (sandbox instanceof SandboxUnavailable) say(`Tools that run programs are off: ${sandbox.message}`)
  const own = opened.configuration?.tools ?? []
  return assemble(
    opened,
    models,
    { concurrency: run.concurrency, ...options },
    {
      sandbox,
      tools: own.filter(({ name }) => run.tools?.off[name] === undefined),
      execution: run.execution,
      source: (run.source ?? {}) as JsonObject,
    },
  )
}

async function assemble(
  { set, configuration }: Partial<OpenedTasks>,
  source: Omit<JobSource, 'tasks'>,
  options: JobOptions,
  parts: Pick<Job, 'sandbox' | 'tools' | 'execution' | 'source'>,
): Promise<JobToAsk> {
  const known = set === undefined ? [] : knownTasks(set)
  await using opening = new AsyncDisposableStack()
  const pool = opening.use(await openPool(source.models, known, { unasked: options.workers }))
  const { model } = opening.use(
    await (options.workers
      ? unaskedModel(source.model, known)
      : openChosenModel(options, known, source.model)),
  )
  const opened = opening.move()
  const { provider, model: name } = model.identity
  return {
    ...parts,
    set,
    model,
    ...(pool.models && { models: pool.models }),
    // By identity, because a recording of the simulated model is simulated, too.
    isSimulated: isSimulatedModel(`${provider}/${name}`),
    concurrency: options.concurrency ?? configuration?.concurrency ?? defaultConcurrency,
    runs: options.runsDir ?? configuration?.runsDir ?? defaultRunsFolder(),
    configuration,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function sourceOf({ name, source }: RunRecord): JobSource {
  if (source?.['tasks'] !== undefined) return source as unknown as JobSource
  throw new UsageError(
    `Run ${name} was started from code or is an export, so it does not say where its tasks are. Call \`train\`, \`evaluate\` or \`solve\` from code.`,
  )
}

export async function openEncoder(source: EncoderSource, say: Say): Promise<FrozenTextEncoder> {
  const { encoder, message } = await chooseEncoder({
    ...(typeof source === 'string' ? { encoder: source } : { modelFolder: source.folder }),
    onProblem: say,
  })
  say(message)
  return encoder
}

/** A run's tasks and their configuration, for commands that call no model. */
export async function openTasksOfRun(folder: RunFolder): Promise<OpenedTasks> {
  return openTasks(sourceOf(folder.readRecord()).tasks)
}

/** Looks up questions and expected answers in a run's task set, for records that lack them. Finds nothing if the set is gone. */
export function askedIn(folder: RunFolder): AskedIn {
  let opened: Promise<OpenedTasks | undefined> | undefined
  return async (split, id) => {
    opened ??= openTasksOfRun(folder).catch(() => undefined)
    const set = (await opened)?.set
    const task = set?.splits[split]?.tasks.find((one) => one.id === id)
    return set && task && askedOf(set, task, set.splits[split]!.references.get(id))
  }
}
