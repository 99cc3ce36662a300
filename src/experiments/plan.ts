import { storedEvaluations } from '../evaluation/evaluate.ts'
import { evaluateOrganisation } from '../evaluation/evaluate-organisation.ts'
import type { TokenUsage } from '../models/usage.ts'
import { deriveRandom } from '../numerics/random.ts'
import type { Organisation } from '../organisations/organisation.ts'
import { randomGraph } from '../policy/random-graph.ts'
import { defaultConcurrency } from '../settings/execution.ts'
import { type GivenTrainingSettings, trainingSettings, updatesOf } from '../settings/training.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import { estimate, simulatedParts } from '../training/estimate.ts'
import { type Condition, runNameOf } from './conditions.ts'
import { isTrained, type Laboratory, type OpenedSet } from './laboratory.ts'
import type { ExperimentDefinition, StudyOptions } from './studies/definition.ts'

/** The estimated usage of one step of an experiment, based on the simulated model. */
export interface PlannedStep extends TokenUsage {
  readonly label: string
  readonly updates: number
  readonly executions: number
  readonly calls: number
  readonly hours: number
}

/** Questions sampled to estimate an organisation's usage. */
const sampledQuestions = 20

/** Assumed duration of a call. */
const secondsPerCall = 3

/** Estimates the remaining steps, calls and tokens of an experiment. Only uses the simulated model. */
export async function planExperiment(
  definition: ExperimentDefinition,
  lab: Laboratory,
  options: StudyOptions,
): Promise<PlannedStep[]> {
  if (options.from !== undefined) return []
  if (definition.plan !== undefined) return definition.plan(lab, options)
  if (definition.comparison === undefined) return []
  const { tasks, study, seeds, training, conditions } = definition.comparison(options)
  const steps: PlannedStep[] = []
  for (const name of tasks) {
    const opened = await lab.open(name, study)
    for (const condition of conditions) {
      const label = `${opened.set.name}, ${condition.id}`
      const runs = seeds.map((seed) => ({ seed, run: lab.run(runNameOf(opened.set, seed, condition)) }))
      const toTrain = runs.filter(({ run }) => !isTrained(run)).length
      const toEvaluate = runs.filter(({ run, seed }) => !isEvaluated(run, condition, seed)).length
      if ('training' in condition && condition.learner !== undefined) {
        // The calls of such a training depend on what it learns.
        const unknown = { calls: 0, input: 0, output: 0 }
        if (toTrain > 0)
          steps.push(step(lab, `${label}: training (not estimated, not in the totals)`, unknown, {}, 1))
        steps.push(
          ...(await evaluationSteps(lab, opened, label, policyLike(opened.set, training), toEvaluate)),
        )
      } else if ('training' in condition) {
        const settings = { ...training, ...condition.training }
        steps.push(...(await trainingSteps(lab, opened, label, settings, toTrain)))
        steps.push(
          ...(await evaluationSteps(lab, opened, label, policyLike(opened.set, settings), toEvaluate)),
        )
      } else {
        const means = { seed: seeds[0]!, encoder: lab.options.encoder }
        const organisation = await condition.organisation(opened.set, means)
        steps.push(...(await evaluationSteps(lab, opened, label, organisation, toEvaluate)))
      }
    }
  }
  if (options.matchedBudget !== true) return steps
  // For each organisation, two numbers of votes around its tokens are measured, and the direct answer.
  const evaluated = steps.filter(({ executions }) => executions > 0)
  const matched = evaluated.map((one) =>
    step(lab, `${one.label.replace(': evaluation', '')}: matched budget`, one, one, 2 / seeds.length),
  )
  return [...steps, ...matched]
}

function isEvaluated(run: RunFolder, { id }: Condition, seed: number): boolean {
  return storedEvaluations(run).some(
    ({ header, records }) =>
      header.organisation === id && header.about['seed'] === seed && records.length === header.tasks,
  )
}

/** `times` trainings with these settings; empty if nothing is trained. */
export async function trainingSteps(
  lab: Laboratory,
  { set }: OpenedSet,
  label: string,
  settings: GivenTrainingSettings,
  times: number,
): Promise<PlannedStep[]> {
  const { encoder, engine } = lab.options
  const updates = updatesOf(trainingSettings.parse(settings), splitOf(set, 'train').tasks.length)
  if (updates === 0 || times === 0) return []
  const { calls, inputTokens, outputTokens } = await estimate({
    set,
    settings,
    encoder,
    execution: engine.execution,
  })
  const usage = { calls: calls.expected, input: inputTokens.expected, output: outputTokens.expected }
  return [step(lab, `${label}: training`, usage, { updates }, times)]
}

/** `times` evaluations on the held-out questions. */
export async function evaluationSteps(
  lab: Laboratory,
  { set }: OpenedSet,
  label: string,
  organisation: Organisation,
  times: number,
): Promise<PlannedStep[]> {
  if (times === 0) return []
  const executor = new TaskExecutor(simulatedParts(set, 'test', lab.options.engine.execution))
  const sample = { executor, split: 'test', organisation, tasks: sampledQuestions }
  const { usage, n } = await evaluateOrganisation(sample)
  const share = (splitOf(set, 'test').tasks.length * times) / n
  return [step(lab, `${label}: evaluation`, usage, { executions: n }, share)]
}

/** Graphs like those of an untrained policy: all legal choices about equally likely. */
export function policyLike({ library }: TaskSet, settings: GivenTrainingSettings): Organisation {
  const { seed, restriction, maxUnits, maxDepth } = trainingSettings.parse(settings)
  const space = { roles: library.space, restriction, maxUnits, maxDepth }
  return {
    name: 'policy',
    description: 'Like an untrained policy.',
    graphFor: ({ id }) => randomGraph(space, deriveRandom(seed, 'plan', id)),
  }
}

/** A step that repeats the given usage `times` times. */
export function step(
  lab: Laboratory,
  label: string,
  { calls, input, output }: Omit<TokenUsage, 'cachedInput'> & { readonly calls: number },
  { updates = 0, executions = 0 }: { readonly updates?: number; readonly executions?: number },
  times: number,
): PlannedStep {
  const { concurrency = defaultConcurrency } = lab.options.engine
  const all = (amount: number) => Math.round(amount * times)
  return {
    label,
    updates: all(updates),
    executions: all(executions),
    calls: all(calls),
    input: all(input),
    // Cache hits cannot be predicted, so none are assumed.
    cachedInput: 0,
    output: all(output),
    hours: (calls * times * secondsPerCall) / concurrency / 3600,
  }
}
