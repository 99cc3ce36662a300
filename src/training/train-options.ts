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

/** Tasks, a model, and how to run them: shared by training and evaluation. */
export interface EngineOptions {
  readonly set: TaskSet
  readonly model: ChatModel
  /** Further models, for organisations that name a model per node. Each call is priced as its own model. */
  readonly models?: Readonly<Record<string, ChatModel>>
  readonly budget?: BudgetSettings
  /** Maximum concurrent model calls. Default: 8, as in the paper. */
  readonly concurrency?: number
  readonly execution?: Parameters<typeof executionSettings.parse>[0]
  /** Default: the one the run was begun with, else this machine's. `null` for none. */
  readonly sandbox?: GivenSandbox
  /** Your own tools, which the profile may enable. */
  readonly tools?: Iterable<Tool>
  /** The clock used for retries and deadlines. */
  readonly clock?: Clock
  /** Stops at the next safe point, within five seconds. The run can be resumed. */
  readonly signal?: AbortSignal
}

export interface TrainOptions extends EngineOptions {
  /** The run's folder. Must not contain a run yet, unless `resume` is set. */
  readonly folder: string
  /** Settings left out take the paper's values. */
  readonly settings?: GivenTrainingSettings
  /** Default: MiniLM if available, else the lexical encoder. */
  readonly encoder?: FrozenTextEncoder
  /** Continues an interrupted run with its original settings. */
  readonly resume?: boolean
  /** Resumes from this checkpoint instead of the newest. */
  readonly fromUpdate?: number
  /** Updates whose checkpoints are kept besides the newest two. May grow during the run. */
  readonly keptUpdates?: ReadonlySet<number>
  /** Another run's ledger, whose evaluations the new run gets for free. */
  readonly ledger?: string
  /**
   * The PostgreSQL for the run's ledger, as `postgres://user:password@host:5432/database`. Default: `MAGIC_LEDGER`;
   * without it, the ledger is a file in the run's folder. The address is never written to disk.
   */
  readonly database?: string
  /**
   * Folders of earlier runs. Their evaluations of the same questions with the same model, prompts and roles are known
   * to a new training by values from the start. They are free and do not count towards `evaluations`.
   */
  readonly learnFrom?: readonly string[]
  /** Learns in place of the policy. */
  readonly organisation?: LearnerSource
  /** Stored in the run's record, so that tasks and model can be found again. */
  readonly source?: JsonObject
  /**
   * Lets other processes run and score graphs; this one then needs neither the model's key nor a sandbox. Called once
   * the run's ledger is open.
   */
  readonly elsewhere?: OpenElsewhere
  readonly onEvent?: (event: TrainingEvent) => void
}

export type OpenElsewhere = (run: {
  /** Where the run's ledger is, if not in its folder. */
  readonly place: LedgerPlace | undefined
  /** What the run's own process has left of the caps. */
  readonly caps: SharedCaps
  readonly parts: ExecutorParts
  readonly ledger: Ledger
  readonly source?: JsonObject
  /** Set for a search with the run's ledger: it has an account of its own under this name, and its caps count from now. */
  readonly search?: string
}) => Promise<Elsewhere>

/** Makes a run's evaluations in other processes. */
export interface Elsewhere {
  readonly make: MakeEvaluation
  /** What other processes have spent, as of the last refresh: on a run over all resumes, else by this call. */
  readonly spent: () => Sums
  /** The same over all resumes. */
  readonly spentInAll: () => Sums
  refresh(): Promise<void>
  /** Refreshes once the calls under way have ended. Waits half a minute at most. */
  settled(): Promise<void>
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
       * Upper bound on calls in flight when the run was last killed or stopped. Their replies are lost and requested
       * again if still needed.
       */
      readonly inFlight: number
    }
  /** About once a second while calls are made. */
  | { readonly type: 'working'; readonly spent: Spent }
  | UpdateRecord

export interface TrainingResult {
  readonly status: 'finished' | 'interrupted' | 'budget-reached'
  readonly folder: string
  /** Updates done so far. */
  readonly done: number
  readonly updates: number
  readonly spent: Spent
  /** The cap that was reached, and the overshoot in its own unit. */
  readonly cap?: { readonly name: Cap; readonly overshoot: number }
}
