import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { evaluate, storedEvaluations } from '../evaluation/evaluate.ts'
import { NothingEvaluatedError } from '../evaluation/evaluate-organisation.ts'
import { type OrganisationReport, organisationReport } from '../evaluation/organisation-report.ts'
import type { JsonObject } from '../library/json-value.ts'
import type { ChatModel } from '../models/chat-model.ts'
import type { Cost } from '../models/prices.ts'
import type { Organisation } from '../organisations/organisation.ts'
import { exitCode, Problem } from '../problem.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import { type GivenTrainingSettings, trainingSettings } from '../settings/training.ts'
import { changesBetween } from '../store/differing-settings.ts'
import { RunFolder } from '../store/run-folder.ts'
import type { Study } from '../tasks/studies/study.ts'
import { splitOf, splitVersion, type TaskSet } from '../tasks/task-set.ts'
import { lastUpdate } from '../training/carry-over-spending.ts'
import type { TransportRule } from '../training/evaluate-graph.ts'
import { train } from '../training/train.ts'
import type { EngineOptions, TrainingEvent, TrainOptions } from '../training/train-options.ts'

/** A task set, and how a run finds it again. */
export interface OpenedSet {
  readonly set: TaskSet
  readonly source: JsonObject
}

export interface LaboratoryOptions {
  /** The experiment's folder. */
  readonly folder: string
  /** Another experiment's folder, whose runs are used where they are the same. */
  readonly earlier?: string
  readonly open: (tasks: string, study: Study) => Promise<OpenedSet>
  /** The model that answers about a set's questions. Whoever gives it closes it. */
  readonly model: (set: TaskSet) => Promise<ChatModel>
  readonly encoder: FrozenTextEncoder
  readonly engine: Pick<EngineOptions, 'execution' | 'sandbox' | 'tools' | 'concurrency' | 'clock'>
  readonly transportFailures: TransportRule
  /** For all runs and evaluations together. */
  readonly budget: BudgetSettings
  readonly signal?: AbortSignal
  /** A ledger that Q3's routes begin from. */
  readonly ledger?: string
  /** What each of Q3's routes may spend, in the model's currency or in tokens. */
  readonly routeBudget?: number
  readonly onStep?: (label: string, total: number, done: number) => void
  readonly onTraining?: (event: TrainingEvent) => void
}

interface Used {
  readonly cost: Cost
  readonly tokens: number
  readonly calls: number
  /** Of work; not known of an evaluation that an earlier process made. */
  readonly minutes: number
}

/** A step that was left before its end. All that was done is kept; repeating the command goes on. */
export class ExperimentStopped extends Problem {
  constructor(why: 'cap' | 'interrupted') {
    super(
      why === 'cap'
        ? 'A cap was reached; what was under way has been finished. Repeat the command with a higher cap to go on.'
        : 'Interrupted. Repeat the command to go on.',
      { exitCode: why === 'cap' ? exitCode.capReached : exitCode.interrupted },
    )
  }
}

/**
 * Where an experiment's runs and evaluations are made, each once: what is finished is read, what is not is resumed. They are
 * made in the same order every time, so that a cap on all of them can be shared out.
 */
export class Laboratory {
  readonly options: LaboratoryOptions
  readonly #sets = new Map<string, Promise<OpenedSet>>()
  readonly #used: Used[] = []
  readonly #facts = new Map<string, string>()

  constructor(options: LaboratoryOptions) {
    this.options = options
  }

  /** What an experiment found out that its report must name: digests, above all. */
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

  /** By its name in the experiment, or in the one that it continues from, if that has it. */
  run(name: string): RunFolder {
    const { folder, earlier } = this.options
    const before = earlier && join(earlier, 'runs', name)
    return new RunFolder(before && existsSync(before) ? before : join(folder, 'runs', name))
  }

  /** How a report names a folder. */
  place(path: string): string {
    return relative(this.options.folder, path)
  }

  /** A finished training, or one that `until` has ended. */
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
      if (spent !== undefined) this.#used.push({ ...spent, tokens: spent.input + spent.output })
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
    this.book({ ...result.spent, tokens: result.spent.input + result.spent.output })
    if (result.status === 'finished' || until?.aborted === true) return folder
    throw new ExperimentStopped(result.status === 'interrupted' ? 'interrupted' : 'cap')
  }

  /** What another experiment has trained is taken over only if it is what this one would have trained. */
  #assertSameTraining(folder: RunFolder, set: TaskSet, settings: GivenTrainingSettings): void {
    const { training, tasks, name } = folder.readRecord()
    const wanted = JSON.parse(JSON.stringify(trainingSettings.parse(settings))) as JsonObject
    const changes = changesBetween(JSON.parse(JSON.stringify(training)) as JsonObject, wanted)
    if (tasks.splits['train']!.version !== splitVersion(set, 'train'))
      changes.push('it learned from other questions')
    if (changes.length > 0)
      throw new Problem(
        `The run ${name} of ${folder.path} was trained otherwise:\n${changes.map((line) => `  ${line}\n`).join('')}Ask for the same, or leave --from out.`,
      )
  }

  /** A complete evaluation on the held-out questions, with the folder of its records. */
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
        `${stored.folder} is an evaluation on other questions. Ask for as many as it was made with, or leave --from out.`,
      )
    const label = `${set.name}: ${organisation.name}`
    const book = (report: OrganisationReport, minutes: number) =>
      this.book({
        cost: report.cost,
        tokens: report.usage.input + report.usage.output,
        calls: report.usage.calls,
        minutes,
      })
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

  /** Adds what a step has used to what counts against the caps. */
  book(used: Used): void {
    this.#used.push(used)
  }

  /** What is left of the caps. Records of an evaluation that was interrupted count only once it is complete. */
  left(): BudgetSettings {
    const { cost, tokens, calls, minutes } = this.options.budget
    const sum = (amount: (used: Used) => number) =>
      this.#used.reduce((total, used) => total + amount(used), 0)
    const rest = (cap: number | undefined, amount: (used: Used) => number) =>
      cap && Math.max(0, cap - sum(amount))
    return {
      cost: rest(cost, (used) => (used.cost === 'unpriced' ? 0 : used.cost.amount)),
      tokens: rest(tokens, (used) => used.tokens),
      calls: rest(calls, (used) => used.calls),
      minutes: rest(minutes, (used) => used.minutes),
    }
  }

  #stopped(): ExperimentStopped {
    return new ExperimentStopped(this.options.signal?.aborted === true ? 'interrupted' : 'cap')
  }
}

/** Whether a run has made all its updates. */
export function isTrained(folder: RunFolder): boolean {
  return folder.exists && (folder.checkpoints().at(-1) ?? -1) >= folder.readRecord().updates
}
