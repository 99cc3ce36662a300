import type { GivenTrainingSettings } from '../../settings/training.ts'
import type { ConditionComparison } from '../conditions.ts'
import type { Laboratory } from '../laboratory.ts'
import type { PlannedStep } from '../plan.ts'
import type { ExperimentResult } from '../report/tables.ts'
import type { ExperimentSettings } from '../settings.ts'

/** What a command may change. */
export interface StudyOptions {
  readonly tasks: readonly string[]
  /** The first is the experiment's own; more repeat it. */
  readonly seeds: readonly number[]
  /** For trials on a smaller scale; a report shows them as deviations. */
  readonly training: GivenTrainingSettings
  /** Sweep: weights per token and per call that policies are trained with, beside one without. */
  readonly penalties?: Readonly<Partial<Record<'tokens' | 'calls', readonly number[]>>>
  /** Q1 and Q4: systems of the literature to measure besides. */
  readonly organisations?: readonly string[]
  /** Whether every organisation is compared with what its tokens buy without one. */
  readonly matchedBudget?: boolean
  /** Trajectories of a run, or another experiment's folder, to compute from instead of running anything. */
  readonly from?: string
}

export interface ExperimentDefinition {
  /** Without a study it asks no model. */
  readonly settings: { readonly title: string } & Partial<ExperimentSettings>
  /** Whether more than one seed has a meaning. */
  readonly takesSeeds?: boolean
  /** What it trains and evaluates, for those that compare organisations. */
  comparison?(options: StudyOptions): ConditionComparison
  /** What it will take, where a comparison does not tell. */
  plan?(lab: Laboratory, options: StudyOptions): Promise<PlannedStep[]>
  /** Does what is left to do, and puts the results into tables. */
  conduct(
    lab: Laboratory,
    options: StudyOptions,
  ): Promise<
    Pick<ExperimentResult, 'tables' | 'figures' | 'decisions'> &
      Partial<Pick<ExperimentResult, 'simulated' | 'deviations'>>
  >
}
