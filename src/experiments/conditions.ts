// Experiments that train policies and evaluate organisations: what is compared, and what came of it.

import type { OrganisationReport } from '../evaluation/organisation-report.ts'
import { loadPolicy } from '../evaluation/trained-policy.ts'
import type { Organisation } from '../organisations/organisation.ts'
import type { GivenTrainingSettings } from '../settings/training.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import { checkInitialWeights } from './initial-weights.ts'
import type { Laboratory } from './laboratory.ts'

/** One row of a comparison on one task set: a policy that is trained for it, or a fixed organisation. */
export type Condition =
  | { readonly id: string; readonly training: GivenTrainingSettings }
  | {
      readonly id: string
      readonly organisation: (set: TaskSet, seed: number) => Organisation | Promise<Organisation>
    }

export interface ConditionResult {
  /** The task set's name. */
  readonly set: string
  readonly title: string
  readonly metric: string
  readonly seed: number
  readonly condition: string
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

/** Trains and evaluates every condition on every task set with every seed, what is finished excepted. */
export async function conduct(lab: Laboratory, comparison: ConditionComparison): Promise<ConditionResult[]> {
  const { tasks, study, seeds, training, conditions } = comparison
  const results: ConditionResult[] = []
  for (const name of tasks)
    for (const seed of seeds) {
      const opened = await lab.open(name, study)
      const { set } = opened
      const digest = await checkInitialWeights(
        set,
        lab.options.encoder,
        conditions.flatMap((one) => ('training' in one ? [{ ...training, ...one.training, seed }] : [])),
      )
      if (digest !== undefined) lab.tell(`${set.name}, seed ${seed}: initial weights`, `SHA-256 ${digest}`)
      for (const condition of conditions) {
        const runName = `${set.name}-${seed}-${condition.id.toLowerCase()}`
        const isTrained = 'training' in condition
        const folder = isTrained
          ? await lab.train(runName, opened, { ...training, ...condition.training, seed })
          : lab.run(runName)
        const organisation = isTrained
          ? (await loadPolicy(folder, { encoder: lab.options.encoder })).organisation({
              name: condition.id,
              seed,
            })
          : await condition.organisation(set, seed)
        const { report, folder: records } = await lab.evaluate(folder, opened, organisation, { seed })
        const runs = [...(isTrained ? [folder.path] : []), records].map((path) => lab.place(path))
        const about = { set: set.name, title: set.title, metric: set.metric, seed }
        results.push({ ...about, condition: condition.id, report, runs })
      }
    }
  return results
}
