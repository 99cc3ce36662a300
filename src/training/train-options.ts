import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { GivenSandbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import type { LearnerSource } from '../learning/graph-learner.ts'
import type { JsonObject } from '../library/json-value.ts'
import type { ChatModel } from '../models/chat-model.ts'
import type { Clock } from '../models/clock.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import type { executionSettings } from '../settings/execution.ts'
import type { GivenTrainingSettings } from '../settings/training.ts'
import type { SharedCaps, Sums } from '../store/allowance/allowance-store.ts'
import type { Cap, Spent } from '../store/budget.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { RunRecord } from '../store/run-folder.ts'
import type { LedgerPlace } from '../store/run-ledger.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import type { MakeEvaluation } from './make-evaluation.ts'
import type { Check } from './self-check.ts'
import type { UpdateRecord } from './update-record.ts'

/** Tasks, a model, and how one is run with the other: the same for training and evaluation. */
export interface EngineOptions {
  readonly set: TaskSet
  readonly model: ChatModel
  /** Further models, for organisations that name a model per node. Each call is priced as its own model. */
  readonly models?: Readonly<Record<string, ChatModel>>
  readonly budget?: BudgetSettings
  /** Model calls in flight at most; the paper's 8 by default. */
  readonly concurrency?: number
  readonly execution?: Parameters<typeof executionSettings.parse>[0]
  /** By default the one that the folder's run was begun with, else this machine's; `null` for none. */
  readonly sandbox?: GivenSandbox
  /** Your own tools, which the profile may switch on. */
  readonly tools?: Iterable<Tool>
  /** Time as retries and deadlines see it. */
  readonly clock?: Clock
  /** Ends it at the next safe point, within five seconds; it can be resumed. */
  readonly signal?: AbortSignal
}

export interface TrainOptions extends EngineOptions {
  /** The run's folder. It must not be a run yet, unless this one is resumed. */
  readonly folder: string
  /** The paper's where nothing is given. */
  readonly settings?: GivenTrainingSettings
  /** By default MiniLM if it is available, else the lexical one. */
  readonly encoder?: FrozenTextEncoder
  /** Continues an interrupted run, with the settings that it was begun with. */
  readonly resume?: boolean
  /** Resumes from this checkpoint instead of the newest. */
  readonly fromUpdate?: number
  /** Updates whose checkpoints stay beside the newest two. May grow while the run goes on, also by the last update's. */
  readonly keptUpdates?: ReadonlySet<number>
  /** Another run's ledger, from whose evaluations a new run begins: what it knows costs nothing. */
  readonly ledger?: string
  /**
   * The address of the PostgreSQL that the run's ledger is on, `postgres://user:password@host:5432/database`; what
   * `MAGIC_LEDGER` says by default, and without it the ledger lies in the run's folder. It is written down nowhere.
   */
  readonly database?: string
  /**
   * Folders of earlier runs: what they have evaluated of the same questions with the same model, prompts and roles, a new
   * training by values knows from the start. It costs nothing, and is no part of `evaluations`.
   */
  readonly learnFrom?: readonly string[]
  /** What learns in the policy's place. */
  readonly organisation?: LearnerSource
  /** Kept in the run's record, so that tasks and model can be found again. */
  readonly source?: JsonObject
  /**
   * Has graphs run and scored elsewhere: the model is then asked by others, and this process needs neither its key nor a
   * sandbox. Called once the run's ledger is open.
   */
  readonly elsewhere?: OpenElsewhere
  readonly onEvent?: (event: TrainingEvent) => void
}

export type OpenElsewhere = (run: {
  /** Where the run's ledger is if not in its folder. */
  readonly place: LedgerPlace | undefined
  /** What the run's own process has left of its caps. */
  readonly caps: SharedCaps
  readonly parts: ExecutorParts
  readonly ledger: Ledger
  readonly source?: JsonObject
}) => Promise<Elsewhere>

/** Who makes a run's evaluations instead of its own process. */
export interface Elsewhere {
  readonly make: MakeEvaluation
  /** What others have spent on the run, over all its resumes, as it was when it was last looked at. */
  readonly spent: () => Sums
  refresh(): Promise<void>
  close(): Promise<void>
}

export type TrainingEvent =
  | { readonly type: 'note'; readonly text: string }
  | ({ readonly type: 'check' } & Check)
  | {
      readonly type: 'start'
      readonly record: RunRecord
      readonly done: number
      /**
       * Calls that were in flight when the run was last killed or stopped, at most: their answers are lost, and those
       * still needed are asked for again.
       */
      readonly inFlight: number
    }
  /** About once a second while calls are made. */
  | { readonly type: 'working'; readonly spent: Spent }
  | UpdateRecord

export interface TrainingResult {
  readonly status: 'finished' | 'interrupted' | 'budget-reached'
  readonly folder: string
  /** Updates done, of those that the run has. */
  readonly done: number
  readonly updates: number
  readonly spent: Spent
  /** The cap that was reached, and by how much it was passed, in its own unit. */
  readonly cap?: { readonly name: Cap; readonly overshoot: number }
}
