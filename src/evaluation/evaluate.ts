import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type GivenSandbox, openToolbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import { CallLimit } from '../models/call-limit.ts'
import type { ChatModel } from '../models/chat-model.ts'
import { priceOf } from '../models/prices.ts'
import { type BudgetSettings, budgetSettings } from '../settings/budget.ts'
import { defaultConcurrency, executionSettings } from '../settings/execution.ts'
import { Budget } from '../store/budget.ts'
import { LineFile, readLines, writeWhole } from '../store/durable-file.ts'
import { sealEvaluation, unsealEvaluation } from '../store/evaluation-digests.ts'
import { RunError, RunFolder } from '../store/run-folder.ts'
import { RunLock } from '../store/run-lock.ts'
import { type RunTools, sandboxOfRun } from '../store/run-tools.ts'
import { TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, splitVersion, type TaskSet } from '../tasks/task-set.ts'
import { type EvaluationProgress, evaluateOrganisation } from './evaluate-organisation.ts'
import type { Organisation } from './organisation.ts'
import type { OrganisationReport, QuestionRecord } from './organisation-report.ts'

export interface EvaluateOptions {
  readonly set: TaskSet
  readonly model: ChatModel
  readonly organisation: Organisation
  /** Distinguishes organisations of one name: another checkpoint, another seed. Kept with the records. */
  readonly about?: Readonly<Record<string, string | number>>
  /** Held-out questions by default. */
  readonly split?: string
  /** So many questions from the start of the split. */
  readonly tasks?: number
  /** The run that keeps the records, so that an evaluation that was interrupted goes on; without it nothing is kept. */
  readonly folder?: string | RunFolder
  readonly concurrency?: number
  readonly budget?: BudgetSettings
  readonly execution?: Parameters<typeof executionSettings.parse>[0]
  /** Where it is not given, the one that the folder's run was begun with; without such a run the machine's. */
  readonly sandbox?: GivenSandbox
  readonly tools?: Iterable<Tool>
  /** Hears first of all which records an interrupted evaluation has left, and how many there are to be. */
  readonly onStart?: (earlier: readonly QuestionRecord[], total: number) => void
  readonly onRecord?: (record: QuestionRecord, progress: EvaluationProgress) => void
  readonly signal?: AbortSignal
}

export interface EvaluatedOrganisation extends OrganisationReport {
  readonly metric: string
  readonly model: string
  /** The records' folder, where there is one. */
  readonly folder?: string
}

/** What a stored evaluation is of: only one of the very same is continued. */
export interface EvaluationHeader {
  readonly format: 'magic-evaluation-1'
  readonly organisation: string
  readonly description: string
  readonly about: Readonly<Record<string, string | number>>
  readonly split: string
  readonly tasks: number
  readonly data: string
  readonly executors: readonly string[]
  readonly model: string
}

/**
 * Evaluates an organisation on held-out questions: every call is made afresh, failures score zero and count.
 *
 * @example
 * const policy = await loadPolicy('runs/my-task')
 * const { score, tokens } = await evaluate({ set, model, organisation: policy.organisation(), folder: 'runs/my-task' })
 */
export async function evaluate(options: EvaluateOptions): Promise<EvaluatedOrganisation> {
  const { set, organisation, split = 'test', concurrency = defaultConcurrency, onRecord } = options
  const sandbox =
    options.sandbox === undefined ? await sandboxOfRun(toolsIn(options.folder)) : options.sandbox
  const settings = executionSettings.parse(options.execution ?? {})
  const budget = new Budget(
    budgetSettings.parse(options.budget ?? {}),
    priceOf(options.model.identity, settings.prices),
  )
  assertPriced(budget, options.model)
  const executor = new TaskExecutor({
    set,
    model: options.model,
    meter: budget,
    tools: openToolbox(sandbox, options.tools),
    settings,
    limit: new CallLimit(concurrency),
  })
  const header = headerOf(executor, options)
  const store = options.folder === undefined ? undefined : await openStore(options.folder, header)
  try {
    options.onStart?.([...(store?.done.values() ?? [])], header.tasks)
    const report = await evaluateOrganisation({
      executor,
      split,
      organisation,
      budget,
      tasks: options.tasks,
      signal: options.signal,
      done: store?.done,
      onRecord: (record, progress) => {
        store?.records.append(record)
        onRecord?.(record, progress)
      },
    })
    const { provider, model } = options.model.identity
    const whole = { ...report, metric: set.metric, model: `${provider}/${model}` }
    if (store === undefined) return whole
    const { records: _, ...summary } = whole
    writeWhole(join(store.folder, 'report.json'), `${JSON.stringify(summary, null, 2)}\n`)
    sealEvaluation(store.folder)
    return { ...whole, folder: store.folder }
  } finally {
    store?.close()
  }
}

/** Evaluations that a run keeps, with their records. */
export function storedEvaluations(
  run: RunFolder,
): { readonly folder: string; readonly header: EvaluationHeader; readonly records: QuestionRecord[] }[] {
  if (!existsSync(run.evaluationsFolder)) return []
  return readdirSync(run.evaluationsFolder)
    .sort()
    .flatMap((name) => {
      const folder = join(run.evaluationsFolder, name)
      if (!existsSync(join(folder, 'records.jsonl'))) return []
      return [
        {
          folder,
          header: readHeader(folder),
          records: readLines(join(folder, 'records.jsonl')) as QuestionRecord[],
        },
      ]
    })
}

function toolsIn(given: string | RunFolder | undefined): RunTools | undefined {
  const folder = typeof given === 'string' ? new RunFolder(given) : given
  return folder?.exists === true ? folder.readRecord().tools : undefined
}

function headerOf(
  executor: TaskExecutor,
  { organisation, split = 'test', about = {}, tasks }: EvaluateOptions,
): EvaluationHeader {
  const { set, model } = executor.parts
  const all = splitOf(set, split).tasks
  const chosen = all.slice(0, tasks ?? all.length)
  return {
    format: 'magic-evaluation-1',
    organisation: organisation.name,
    description: organisation.description,
    about,
    split,
    tasks: chosen.length,
    data: splitVersion(set, split),
    executors: [...new Set(chosen.map((task) => executor.fingerprint(task)))].sort(),
    model: `${model.identity.provider}/${model.identity.model}`,
  }
}

/** The folder of an evaluation that was begun and not ended, or a new one. */
async function openStore(run: string | RunFolder, header: EvaluationHeader) {
  const { evaluationsFolder } = typeof run === 'string' ? new RunFolder(run) : run
  const base = `${header.split}-${header.organisation}`.replace(/[^a-zA-Z0-9_-]+/g, '-').slice(0, 60)
  for (let number = 1; ; number += 1) {
    const folder = join(evaluationsFolder, number === 1 ? base : `${base}-${number}`)
    const isNew = !existsSync(join(folder, 'evaluation.json'))
    if (isNew) {
      mkdirSync(folder, { recursive: true })
      writeWhole(join(folder, 'evaluation.json'), `${JSON.stringify(header, null, 2)}\n`)
    } else if (existsSync(join(folder, 'report.json')) && isComplete(folder)) continue
    else if (!isDeepStrictEqual(readHeader(folder), header)) continue
    // Two at work on one evaluation would both ask all that is left.
    const lock = await RunLock.acquire(folder)
    try {
      unsealEvaluation(folder)
      const records = new LineFile(join(folder, 'records.jsonl'))
      const done = (readLines(records.path) as QuestionRecord[]).map(
        (record) => [record.task, record] as const,
      )
      const close = () => {
        records.close()
        lock.release()
      }
      return { folder, records, done: new Map(done), close }
    } catch (error) {
      lock.release()
      throw error
    }
  }
}

function isComplete(folder: string): boolean {
  const { complete } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as { complete?: boolean }
  return complete === true
}

function readHeader(folder: string): EvaluationHeader {
  return JSON.parse(readFileSync(join(folder, 'evaluation.json'), 'utf8')) as EvaluationHeader
}

function assertPriced({ caps, price }: Budget, { identity }: ChatModel): void {
  if (caps.cost === undefined || price !== undefined) return
  const name = `${identity.provider}/${identity.model}`
  throw new RunError(
    `There is a budget in money, but no price for ${name}: give one under model.prices["${name}"] in the configuration (execution.prices from code), or cap tokens or calls instead.`,
  )
}
