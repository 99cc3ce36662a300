import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { evaluate, storedEvaluations } from '../evaluation/evaluate.ts'
import { NothingEvaluatedError } from '../evaluation/evaluate-organisation.ts'
import { type OrganisationReport, organisationReport } from '../evaluation/organisation-report.ts'
import type { JsonObject } from '../library/json-value.ts'
import type { ChatModel } from '../models/chat-model.ts'
import type { Organisation } from '../organisations/organisation.ts'
import { exitCode, Problem } from '../problem.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import { type GivenTrainingSettings, trainingSettings } from '../settings/training.ts'
import { type Counted, capsLeft, usedBy } from '../store/budget.ts'
import { changesBetween } from '../store/differing-settings.ts'
import { RunFolder } from '../store/run-folder.ts'
import type { Study } from '../tasks/studies/study.ts'
import { splitOf, splitVersion, type TaskSet } from '../tasks/task-set.ts'
import { lastUpdate } from '../training/carry-over-spending.ts'
import type { TransportRule } from '../training/evaluate-graph.ts'
import { train } from '../training/train.ts'
import type { EngineOptions, TrainingEvent, TrainOptions } from '../training/train-options.ts'

/** A task set, and how to find it again. */
export interface OpenedSet {
  readonly set: TaskSet
  readonly source: JsonObject
}

export interface LaboratoryOptions {
  /** The experiment's folder. */
  readonly folder: string
  /** Another experiment's folder, whose runs are reused if they are the same. */
  readonly earlier?: string
  readonly open: (tasks: string, study: Study) => Promise<OpenedSet>
  /** The model for a set's questions. The caller closes it. */
  readonly model: (set: TaskSet) => Promise<ChatModel>
  readonly encoder: FrozenTextEncoder
  readonly engine: Pick<EngineOptions, 'execution' | 'sandbox' | 'tools' | 'concurrency' | 'clock'>
  readonly transportFailures: TransportRule
  /** Applies to all runs and evaluations together. */
  readonly budget: BudgetSettings
  readonly signal?: AbortSignal
  /** A ledger that Q3's routes start from. */
  readonly ledger?: string
  /** The budget of each of Q3's routes, in the model's currency or in tokens. */
  readonly routeBudget?: number
  readonly onStep?: (label: string, total: number, done: number) => void
  readonly onTraining?: (event: TrainingEvent) => void
}

/** A step was stopped early. Everything done is kept; repeating the command continues. */
export class ExperimentStopped extends Problem {
  constructor(why: 'cap' | 'interrupted') {
    super(
      why === 'cap'
        ? 'A cap was reached, and work in progress was finished. Repeat the command with a higher cap to continue.'
        : 'Interrupted. Repeat the command to continue.',
      { exitCode: why === 'cap' ? exitCode.capReached : exitCode.interrupted },
    )
  }
}

/**
 * Makes an experiment's runs and evaluations, each once: finished ones are read, unfinished ones resumed. The order
 * is always the same, so that a cap on all of them is shared out consistently.
 */
export class Laboratory {
  readonly options: LaboratoryOptions
  readonly #sets = new Map<string, Promise<OpenedSet>>()
  readonly #used: Counted[] = []
  readonly #facts = new Map<string, string>()

  constructor(options: LaboratoryOptions) {
    this.options = options
  }

  /** Facts that the experiment's report must include, such as digests. */
  get facts(): readonly (readonly [name: string, value: string])[] {
    return [...this.#facts]
  }

  tell(name: string, value: string): void {
    this.#facts.set(name, value)
  }

  open(tasks: string, study: Study): Promise<OpenedSet> {
    const key = `${study} ${tasks}`
    const opened = this.#sets.get(key) ?? this.options.open(tasks, study)
    this.#sets.set(key, opened)
    return opened
  }

  /** A run by name: of the earlier experiment if it has it, else of this one. */
  run(name: string): RunFolder {
    const { folder, earlier } = this.options
    const before = earlier && join(earlier, 'runs', name)
    return new RunFolder(before && existsSync(before) ? before : join(folder, 'runs', name))
  }

  /** A folder's path for reports. */
  place(path: string): string {
    return relative(this.options.folder, path)
  }

  /** Trains to the end, or until `until` aborts. */
  async train(
    name: string,
    { set, source }: OpenedSet,
    settings: GivenTrainingSettings,
    {
      until,
      ...more
    }: Pick<TrainOptions, 'keptUpdates' | 'ledger' | 'onEvent' | 'organisation'> & {
      readonly until?: AbortSignal
    } = {},
  ): Promise<RunFolder> {
    const { encoder, engine, onTraining } = this.options
    const signals = [this.options.signal, until].filter((one) => one !== undefined)
    const folder = this.run(name)
    if (isTrained(folder)) {
      this.#assertSameTraining(folder, set, settings)
      const spent = lastUpdate(folder)?.spent
      if (spent !== undefined) this.book(spent)
      return folder
    }
    const result = await train({
      ...engine,
      set,
      settings,
      encoder,
      source,
      signal: signals.length === 0 ? undefined : AbortSignal.any(signals),
      model: await this.options.model(set),
      folder: folder.path,
      resume: folder.exists,
      budget: this.left(),
      onEvent: onTraining,
      ...more,
    })
    this.book(result.spent)
    if (result.status === 'finished' || until?.aborted === true) return folder
    throw new ExperimentStopped(result.status === 'interrupted' ? 'interrupted' : 'cap')
  }

  /** Throws unless another experiment's run was trained exactly as this one would be. */
  #assertSameTraining(folder: RunFolder, set: TaskSet, settings: GivenTrainingSettings): void {
    const { training, tasks, name } = folder.readRecord()
    const wanted = JSON.parse(JSON.stringify(trainingSettings.parse(settings))) as JsonObject
    const changes = changesBetween(JSON.parse(JSON.stringify(training)) as JsonObject, wanted)
    if (tasks.splits['train']!.version !== splitVersion(set, 'train'))
      changes.push('it learned from other questions')
    if (changes.length > 0)
      throw new Problem(
        `The run ${name} of ${folder.path} was trained differently:\n${changes.map((line) => `  ${line}\n`).join('')}Use the same settings, or leave out --from.`,
      )
  }

  /** Evaluates an organisation on all held-out questions. Returns the report and the folder of its records. */
  async evaluate(
    folder: RunFolder,
    { set }: OpenedSet,
    organisation: Organisation,
    about: Readonly<Record<string, string | number>> = {},
  ): Promise<{ report: OrganisationReport; folder: string }> {
    const { engine, signal, onStep, transportFailures } = this.options
    const order = splitOf(set, 'test').tasks
    const stored = storedEvaluations(folder).find(
      ({ header }) =>
        header.organisation === organisation.name &&
        header.split === 'test' &&
        isDeepStrictEqual(header.about, about),
    )
    if (stored !== undefined && stored.header.data !== splitVersion(set, 'test'))
      throw new Problem(
        `${stored.folder} is an evaluation on other questions. Use the same number of questions, or leave out --from.`,
      )
    const label = `${set.name}: ${organisation.name}`
    // How long it took is unknown for evaluations made by an earlier process.
    const book = ({ cost, usage }: OrganisationReport, minutes: number) =>
      this.book({ cost, ...usage, minutes })
    if (stored !== undefined && stored.records.length === order.length) {
      const byTask = new Map(stored.records.map((record) => [record.task, record]))
      const report = organisationReport(
        stored.header,
        order.flatMap(({ id }) => byTask.get(id) ?? []),
      )
      book(report, 0)
      return { report, folder: stored.folder }
    }
    const report = await evaluate({
      ...engine,
      set,
      folder,
      organisation,
      about,
      signal,
      transportFailures,
      model: await this.options.model(set),
      budget: this.left(),
      onStart: (earlier, total) => onStep?.(label, total, earlier.length),
      onRecord: (_, { done, total }) => onStep?.(label, total, done),
    }).catch((error: unknown) => {
      if (error instanceof NothingEvaluatedError) throw this.#stopped()
      throw error
    })
    book(report, report.spent.minutes)
    if (!report.complete) throw this.#stopped()
    return { report, folder: report.folder! }
  }

  /** Counts a step's usage against the caps. */
  book(used: Counted): void {
    this.#used.push(used)
  }

  /** What is left of the caps. An interrupted evaluation counts only once it is complete. */
  left(): BudgetSettings {
    return capsLeft(this.options.budget, usedBy(this.#used))
  }

  #stopped(): ExperimentStopped {
    return new ExperimentStopped(this.options.signal?.aborted === true ? 'interrupted' : 'cap')
  }
}

/** Whether a run has completed all its updates. */
export function isTrained(folder: RunFolder): boolean {
  return folder.exists && (folder.checkpoints().at(-1) ?? -1) >= folder.readRecord().updates
}
