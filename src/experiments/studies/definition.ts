import type { GivenTrainingSettings } from '../../settings/training.ts'
import type { ConditionComparison } from '../conditions.ts'
import type { Laboratory } from '../laboratory.ts'
import type { ExperimentResult } from '../report/tables.ts'

/** What a command may change. */
export interface StudyOptions {
  readonly tasks: readonly string[]
  /** The first is the experiment's own; more repeat it. */
  readonly seeds: readonly number[]
  /** For trials on a smaller scale; a report shows them as deviations. */
  readonly training: GivenTrainingSettings
  /** Trajectories of a run, or another experiment's folder, to compute from instead of running anything. */
  readonly from?: string
}

export interface ExperimentDefinition {
  readonly settings: { readonly title: string; readonly seed?: number; readonly tasks?: readonly string[] }
  /** What it trains and evaluates, for those that compare organisations. */
  comparison?(options: StudyOptions): ConditionComparison
  /** Does what is left to do, and puts the results into tables. */
  conduct(
    lab: Laboratory,
    options: StudyOptions,
  ): Promise<Pick<ExperimentResult, 'tables' | 'figures' | 'decisions'>>
}
