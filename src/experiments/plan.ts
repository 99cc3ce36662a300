import { defaultConcurrency } from '../settings/execution.ts'
import { type GivenTrainingSettings, trainingSettings, updatesOf } from '../settings/training.ts'
import { splitOf } from '../tasks/task-set.ts'
import { estimate } from '../training/estimate.ts'
import type { Laboratory, OpenedSet } from './laboratory.ts'
import { d3Settings, q3Settings, transferSettings } from './settings.ts'
import { d2 } from './studies/d2.ts'
import { d3 } from './studies/d3.ts'
import type { ExperimentDefinition, StudyOptions } from './studies/definition.ts'
import { q3 } from './studies/q3.ts'

/** What one step of an experiment will take, from lengths on the simulated model. */
export interface PlannedStep {
  readonly label: string
  readonly updates: number
  readonly executions: number
  readonly calls: number
  readonly input: number
  readonly cachedInput: number
  readonly output: number
  readonly hours: number
}

/** Seconds that a call is taken to last. */
const secondsPerCall = 3

/** Plan, calls and tokens of an experiment. Asks no model. */
export async function planExperiment(
  definition: ExperimentDefinition,
  lab: Laboratory,
  options: StudyOptions,
): Promise<PlannedStep[]> {
  if (definition === d2 || options.from !== undefined) return []
  const steps: PlannedStep[] = []
  if (definition.comparison !== undefined) {
    const { tasks, study, seeds, training, conditions } = definition.comparison(options)
    for (const name of tasks) {
      const opened = await lab.open(name, study)
      for (const condition of conditions) {
        const settings = 'training' in condition ? { ...training, ...condition.training } : undefined
        steps.push(...(await stepsOf(lab, opened, condition.id, settings, 1, seeds.length)))
      }
    }
    return steps
  }
  if (definition === q3 || definition === d3) {
    const { study, training } = definition === q3 ? q3Settings : d3Settings
    // Routes of Q3 end with their budget; a cycle of updates shows what that buys.
    const given = { ...training, ...options.training, passes: 1 }
    const evaluations = definition === q3 ? 1 + 2 * q3Settings.stages : 0
    for (const name of options.tasks)
      steps.push(
        ...(await stepsOf(
          lab,
          await lab.open(name, study),
          'training',
          given,
          evaluations,
          options.seeds.length,
        )),
      )
    return steps
  }
  const given = { ...transferSettings.training, ...options.training }
  for (const name of options.tasks)
    steps.push(
      ...(await stepsOf(
        lab,
        await lab.open(name, transferSettings.study),
        'transfer',
        given,
        options.tasks.length + 1,
        1,
      )),
    )
  return steps
}

/** A training, if there is one, and so many evaluations. */
async function stepsOf(
  lab: Laboratory,
  { set }: OpenedSet,
  label: string,
  settings: GivenTrainingSettings | undefined,
  evaluations: number,
  seeds: number,
): Promise<PlannedStep[]> {
  const { encoder, engine } = lab.options
  const { concurrency = defaultConcurrency } = engine
  const hours = (calls: number) => (calls * secondsPerCall) / concurrency / 3600
  const hasTraining = 'train' in set.splits
  const figures = hasTraining
    ? await estimate({ set, settings: settings ?? {}, encoder, execution: engine.execution })
    : undefined
  const updates =
    settings === undefined || !hasTraining
      ? 0
      : updatesOf(trainingSettings.parse(settings), splitOf(set, 'train').tasks.length)
  const trained: PlannedStep[] =
    updates === 0
      ? []
      : [
          {
            label: `${set.name}, ${label}: training`,
            updates: updates * seeds,
            executions: 0,
            calls: figures!.calls.expected * seeds,
            input: figures!.inputTokens.expected * seeds,
            cachedInput: 0,
            output: figures!.outputTokens.expected * seeds,
            hours: hours(figures!.calls.expected * seeds),
          },
        ]
  const questions = 'test' in set.splits ? splitOf(set, 'test').tasks.length : 0
  const executions = questions * evaluations * seeds
  if (executions === 0) return trained
  // A set that nothing is trained on has no estimate: three units of one call each and the finalizer.
  const calls = (figures?.perQuestion.calls ?? 4) * executions
  const tokens = (figures?.perQuestion.tokens ?? 4000) * executions
  return [
    ...trained,
    {
      label: `${set.name}, ${label}: evaluation`,
      updates: 0,
      executions,
      calls,
      input: tokens * 0.9,
      cachedInput: 0,
      output: tokens * 0.1,
      hours: hours(calls),
    },
  ]
}
