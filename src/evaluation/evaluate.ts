import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { runPriceOf } from '../models/prices.ts'
import { validated } from '../problem.ts'
import { type BudgetSettings, budgetSettings } from '../settings/budget.ts'
import { Budget, type Spent } from '../store/budget.ts'
import { LineFile, readLines, writeWhole } from '../store/durable-file.ts'
import { sealEvaluation, unsealEvaluation } from '../store/evaluation-digests.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { RunFolder } from '../store/run-folder.ts'
import { RunLock } from '../store/run-lock.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, splitVersion } from '../tasks/task-set.ts'
import type { EvaluationRules } from '../training/evaluate-graph.ts'
import { openParts } from '../training/prepare-run.ts'
import { checkPrice } from '../training/self-check.ts'
import type { EngineOptions } from '../training/train-options.ts'
import {
  type ElsewhereAfresh,
  evaluateOrganisation,
  NothingEvaluatedError,
  type OrganisationEvaluation,
} from './evaluate-organisation.ts'
import type { OrganisationReport, QuestionRecord, ReportedEvaluation } from './organisation-report.ts'
import type { GraphSearch } from './search-graph.ts'

export interface EvaluateOptions
  extends EngineOptions,
    Pick<
      OrganisationEvaluation,
      'organisation' | 'tasks' | 'onRecord' | 'transportFailures' | 'disturbance'
    > {
  /** Distinguishes organisations of the same name, such as by checkpoint or seed. Stored with the records. */
  readonly about?: Readonly<Record<string, string | number>>
  /** How the organisation was found; shown in the report. */
  readonly search?: GraphSearch
  /** Default: `test`. */
  readonly split?: string
  /** The run that stores the records, so that an interrupted evaluation can continue. Without it nothing is stored. */
  readonly folder?: string | RunFolder
  /** Runs the graphs in other processes, with a ledger for this evaluation alone. */
  readonly elsewhere?: (evaluation: SubmittedEvaluation) => Promise<ElsewhereAfresh>
  /** Called first, with the records of an interrupted evaluation and the total number of questions. */
  readonly onStart?: (earlier: readonly QuestionRecord[], total: number) => void
}

/** What other processes need to know of an evaluation. */
export interface SubmittedEvaluation {
  readonly parts: ExecutorParts
  readonly caps: BudgetSettings
  readonly split: string
  readonly rules: EvaluationRules
  /** The folder of the records, if stored. A repeated evaluation reuses what it has paid for. */
  readonly folder?: string
}

export interface EvaluatedOrganisation extends OrganisationReport {
  readonly metric: string
  readonly model: string
  readonly search?: GraphSearch
  /** Spent by this call alone, including unfinished questions and judges. */
  readonly spent: Spent
  /** The folder of the records, if stored. */
  readonly folder?: string
}

/** Identifies a stored evaluation: it is continued only with an identical header. */
export interface EvaluationHeader extends ReportedEvaluation {
  readonly format: 'magic-evaluation-1'
  readonly about: Readonly<Record<string, string | number>>
  readonly data: string
  readonly executors: readonly string[]
  readonly model: string
  /** Set if questions counted as wrong when the model could not be reached. */
  readonly transportFailures?: 'zero'
}

/**
 * Evaluates an organisation on held-out questions. Every call is made anew; failures score zero and count.
 *
 * @example
 * const policy = await loadPolicy('runs/my-task')
 * const { score, tokens } = await evaluate({ set, model, organisation: policy.organisation(), folder: 'runs/my-task' })
 */
export async function evaluate(options: EvaluateOptions): Promise<EvaluatedOrganisation> {
  const { set, organisation, split = 'test', tasks, signal, onRecord } = options
  const folder = typeof options.folder === 'string' ? new RunFolder(options.folder) : options.folder
  const parts = await openParts(options, folder?.exists === true ? folder.readRecord().tools : undefined)
  const caps = validated(budgetSettings, options.budget ?? {}, 'budget')
  checkPrice(parts, caps)
  await using closing = new AsyncDisposableStack()
  const header = headerOf(new TaskExecutor(parts), options)
  const store = folder && (await openStore(folder, header))
  closing.defer(() => store?.close())
  const { transportFailures, disturbance } = options
  const rules = { transportFailures, disturbance }
  const elsewhere = await options.elsewhere?.({ parts, caps, split, rules, folder: store?.folder })
  closing.defer(async () => elsewhere?.close())
  const budget = new Budget(caps, runPriceOf(parts), undefined, elsewhere?.spent)
  const executor = new TaskExecutor({ ...parts, meter: budget })
  options.onStart?.([...(store?.done.values() ?? [])], header.tasks)
  const report = await evaluateOrganisation({
    executor,
    split,
    organisation,
    budget,
    tasks,
    signal,
    ...rules,
    elsewhere,
    inFlight: elsewhere && 4 * Math.max(parts.limit.limit, await elsewhere.capacity()),
    done: store?.done,
    onTrace: (trace) => store?.traces.keepTrace(trace),
    onRecord: (record, progress) => {
      store?.records.append(record)
      return onRecord?.(record, progress)
    },
  }).catch(async (error: unknown) => {
    await elsewhere?.refresh()
    if (error instanceof NothingEvaluatedError) error.spent = budget.spent
    throw error
  })
  await elsewhere?.settled()
  const whole = { ...report, metric: set.metric, model: header.model, search: options.search }
  const { records: _, ...summary } = whole
  if (store !== undefined) {
    writeWhole(join(store.folder, 'report.json'), `${JSON.stringify(summary, null, 2)}\n`)
    sealEvaluation(store.folder)
  }
  if (report.complete) await elsewhere?.remove()
  return { ...whole, spent: budget.spent, ...(store && { folder: store.folder }) }
}

export interface StoredEvaluation {
  readonly folder: string
  readonly header: EvaluationHeader
  readonly records: readonly QuestionRecord[]
}

/** The evaluations stored in a run, with their records. */
export function storedEvaluations({ evaluationsFolder }: RunFolder): StoredEvaluation[] {
  if (!existsSync(evaluationsFolder)) return []
  return readdirSync(evaluationsFolder)
    .sort()
    .map((name) => join(evaluationsFolder, name))
    .filter((folder) => existsSync(join(folder, 'records.jsonl')))
    .map((folder) => ({ folder, header: readHeader(folder), records: readRecords(folder) }))
}

function headerOf(
  executor: TaskExecutor,
  { organisation, split = 'test', about = {}, tasks, transportFailures }: EvaluateOptions,
): EvaluationHeader {
  const { set, model } = executor.parts
  const chosen = splitOf(set, split).tasks.slice(0, tasks)
  return {
    format: 'magic-evaluation-1',
    organisation: organisation.name,
    description: organisation.description,
    ...(organisation.fidelity && { fidelity: organisation.fidelity }),
    about,
    split,
    tasks: chosen.length,
    data: splitVersion(set, split),
    executors: [...new Set(chosen.map((task) => executor.fingerprint(task)))].sort(),
    model: `${model.identity.provider}/${model.identity.model}`,
    // The default is left out, so that headers of earlier versions still match.
    ...(transportFailures === 'zero' ? { transportFailures } : {}),
  }
}

/** Opens the folder of an unfinished evaluation with this header, or a new one. */
async function openStore({ evaluationsFolder }: RunFolder, header: EvaluationHeader) {
  const base = `${header.split}-${header.organisation}`.replace(/[^a-zA-Z0-9_-]+/g, '-').slice(0, 60)
  let folder = join(evaluationsFolder, base)
  for (let number = 2; existsSync(join(folder, 'evaluation.json')); number += 1) {
    if (!isComplete(folder) && isDeepStrictEqual(readHeader(folder), header)) break
    folder = join(evaluationsFolder, `${base}-${number}`)
  }
  if (!existsSync(join(folder, 'evaluation.json'))) {
    mkdirSync(folder, { recursive: true })
    writeWhole(join(folder, 'evaluation.json'), `${JSON.stringify(header, null, 2)}\n`)
  }
  await using opening = new AsyncDisposableStack()
  // Two processes on one evaluation would both ask the remaining questions.
  opening.use(await RunLock.acquire(folder))
  unsealEvaluation(folder)
  const records = opening.use(new LineFile(join(folder, 'records.jsonl')))
  const traces = opening.use(await SqliteLedger.open(tracesFile(folder)))
  const done = new Map(readRecords(folder).map((record) => [record.task, record]))
  const opened = opening.move()
  return { folder, records, traces, done, close: () => opened.disposeAsync() }
}

/** Requests and replies of an evaluation, in a ledger of their own: nothing is reused from it. */
export function tracesFile(folder: string): string {
  return join(folder, 'traces.sqlite')
}

function isComplete(folder: string): boolean {
  const report = join(folder, 'report.json')
  return existsSync(report) && (readJson(report) as { complete?: boolean }).complete === true
}

function readHeader(folder: string): EvaluationHeader {
  return readJson(join(folder, 'evaluation.json')) as EvaluationHeader
}

function readRecords(folder: string): QuestionRecord[] {
  return readLines(join(folder, 'records.jsonl')) as QuestionRecord[]
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
