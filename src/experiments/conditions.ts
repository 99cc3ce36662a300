// Experiments that train policies and evaluate organisations: what is compared, and the results.
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { OrganisationReport } from '../evaluation/organisation-report.ts'
import { loadPolicy } from '../evaluation/trained-policy.ts'
import type { LearnerSource } from '../learning/graph-learner.ts'
import type { Fidelity, Organisation } from '../organisations/organisation.ts'
import type { GivenTrainingSettings } from '../settings/training.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import { checkInitialWeights } from './initial-weights.ts'
import type { Laboratory, OpenedSet } from './laboratory.ts'

/** One row of a comparison on one task set: something trained for it, or an organisation as is. */
export type Condition = TrainedCondition | OpenedCondition

interface ConditionAbout {
  readonly id: string
  /** For systems from the literature: what the implementation is based on. */
  readonly fidelity?: Fidelity
}

/** A policy or another learning system. */
export interface TrainedCondition extends ConditionAbout {
  readonly training: GivenTrainingSettings
  readonly learner?: LearnerSource
}

export interface OpenedCondition extends ConditionAbout {
  readonly organisation: (
    set: TaskSet,
    means: { readonly seed: number; readonly encoder: FrozenTextEncoder },
  ) => Organisation | Promise<Organisation>
}

export interface ConditionResult {
  /** The task set's name. */
  readonly set: string
  readonly title: string
  readonly metric: string
  readonly seed: number
  readonly condition: string
  readonly fidelity?: Fidelity
  readonly report: OrganisationReport
  /** Folders of the run and the evaluation, relative to the experiment's. */
  readonly runs: readonly string[]
}

export interface ConditionComparison {
  readonly tasks: readonly string[]
  readonly study: Parameters<Laboratory['open']>[1]
  readonly seeds: readonly number[]
  readonly training: GivenTrainingSettings
  readonly conditions: readonly Condition[]
}

/** Trains and evaluates every condition on every task set with every seed, skipping what is finished. */
export async function conduct(lab: Laboratory, comparison: ConditionComparison): Promise<ConditionResult[]> {
  const { tasks, study, seeds, training, conditions } = comparison
  const results: ConditionResult[] = []
  for (const name of tasks)
    for (const seed of seeds) {
      const opened = await lab.open(name, study)
      const { set } = opened
      const policies = conditions.filter(isPolicy).map((one) => ({ ...training, ...one.training, seed }))
      const digest = await checkInitialWeights(set, lab.options.encoder, policies)
      if (digest !== undefined) lab.tell(`${set.name}, seed ${seed}: initial weights`, `SHA-256 ${digest}`)
      for (const condition of conditions)
        results.push(await conductOne(lab, opened, condition, { ...training, seed }))
    }
  return results
}

/** One condition on one task set with one seed. */
export async function conductOne(
  lab: Laboratory,
  opened: OpenedSet,
  condition: Condition,
  training: GivenTrainingSettings & { readonly seed: number },
): Promise<ConditionResult> {
  const { set } = opened
  const { seed } = training
  const { encoder } = lab.options
  const { id, fidelity } = condition
  const runName = runNameOf(set, seed, condition)
  const isTrained = 'training' in condition
  const folder = isTrained
    ? await lab.train(
        runName,
        opened,
        isPolicy(condition) ? { ...training, ...condition.training } : { seed },
        {
          organisation: condition.learner,
        },
      )
    : lab.run(runName)
  const organisation = isTrained
    ? (await loadPolicy(folder, { encoder })).organisation({ name: id, seed })
    : await condition.organisation(set, { seed, encoder })
  const { report, folder: records } = await lab.evaluate(folder, opened, organisation, { seed })
  const runs = [...(isTrained ? [folder.path] : []), records].map((path) => lab.place(path))
  const about = { set: set.name, title: set.title, metric: set.metric, seed }
  return { ...about, condition: id, fidelity, report, runs }
}

/** The name of a condition's run or records. */
export function runNameOf(set: TaskSet, seed: number, { id }: Condition): string {
  return `${set.name}-${seed}-${id.toLowerCase()}`
}

/** Training settings only apply to policies, not to other learning systems. */
export function isPolicy(condition: Condition): condition is TrainedCondition {
  return 'training' in condition && condition.learner === undefined
}
