import type { GivenTrainingSettings } from '../../settings/training.ts'
import type { ConditionComparison } from '../conditions.ts'
import type { Laboratory } from '../laboratory.ts'
import type { PlannedStep } from '../plan.ts'
import type { ExperimentResult } from '../report/tables.ts'
import type { ExperimentSettings } from '../settings.ts'

/** What a command can override. */
export interface StudyOptions {
  readonly tasks: readonly string[]
  /** The first is the experiment's own; the others repeat it. */
  readonly seeds: readonly number[]
  /** For smaller trials; reports list them as deviations. */
  readonly training: GivenTrainingSettings
  /** Sweep: penalties per token and per call to train policies with, in addition to one without. */
  readonly penalties?: Readonly<Partial<Record<'tokens' | 'calls', readonly number[]>>>
  /** Q1 and Q4: further systems from the literature to measure. */
  readonly organisations?: readonly string[]
  /** Whether to compare every organisation with direct answers and self-consistency at the same tokens. */
  readonly matchedBudget?: boolean
  /** Trajectories of a run, or another experiment's folder, to compute from without running anything. */
  readonly from?: string
}

export interface ExperimentDefinition {
  /** Without a study, it calls no model. */
  readonly settings: { readonly title: string } & Partial<ExperimentSettings>
  /** Whether more than one seed makes sense. */
  readonly takesSeeds?: boolean
  /** What it trains and evaluates, if it compares organisations. */
  comparison?(options: StudyOptions): ConditionComparison
  /** Estimates its usage, if there is no `comparison` to derive it from. */
  plan?(lab: Laboratory, options: StudyOptions): Promise<PlannedStep[]>
  /** Completes the experiment and puts the results into tables. */
  conduct(
    lab: Laboratory,
    options: StudyOptions,
  ): Promise<
    Pick<ExperimentResult, 'tables' | 'figures' | 'decisions'> &
      Partial<Pick<ExperimentResult, 'simulated' | 'deviations'>>
  >
}
