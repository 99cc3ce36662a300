import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { openToolbox } from '../execution/toolbox.ts'
import type { ConstructionSpace } from '../graph/legality.ts'
import { embedQuestions, type TrainingQuestions } from '../learning/training-questions.ts'
import { untrainedLearner } from '../learning/untrained-policy.ts'
import { type ScoreGraph, updatePolicy } from '../learning/update.ts'
import { CallLimit } from '../models/call-limit.ts'
import { costOf, type Price } from '../models/prices.ts'
import { addUsage, type Usage } from '../models/usage.ts'
import { deriveRandom } from '../numerics/random.ts'
import { randomGraph } from '../policy/random-graph.ts'
import { validated } from '../problem.ts'
import { executionSettings } from '../settings/execution.ts'
import {
  evaluationsFor,
  type GivenTrainingSettings,
  type TrainingSettings,
  trainingSettings,
  updatesOf,
} from '../settings/training.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { SimulatedModel } from '../simulator/model/simulator.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import type { TrainOptions } from './train-options.ts'
import { openEvaluator } from './training-evaluator.ts'

export type Estimate = Awaited<ReturnType<typeof estimate>>

export type Range = Record<'low' | 'expected' | 'high', number>

/** Enough for a mean, but still done in seconds. */
const sampledUpdates = 10
const sampledLooks = 60

/** Good graphs are larger than random ones, so looks take more calls; factors of 1.1 to 1.4 were measured. */
const beyondRandom = 1.3

/**
 * How far a run may differ from its first updates: later ones find more in the ledger, and a policy that learns to
 * build larger graphs asks more.
 */
const spread = { low: 0.5, high: 1.4 } as const

/**
 * Estimates the calls, tokens and cost of a training by running some of its updates on the simulated model. Simulated
 * replies are about as long as those of real models; a model that writes twice as much will cost more than this.
 */
export async function estimate(options: {
  readonly set: TaskSet
  readonly settings?: GivenTrainingSettings
  readonly encoder: FrozenTextEncoder
  readonly price?: Price
  readonly execution?: TrainOptions['execution']
}) {
  const { set, encoder, price } = options
  const settings = validated(trainingSettings, options.settings ?? {}, 'training')
  const updates = updatesOf(settings, splitOf(set, 'train').tasks.length)
  const sampled = Math.min(sampledUpdates, updates)
  await using closing = new AsyncDisposableStack()
  const ledger = closing.adopt(await SqliteLedger.open(':memory:'), (opened) => opened.close())
  const evaluator = openEvaluator({
    parts: simulatedParts(set, 'train', options.execution),
    ledger,
    requestReuse: settings.requestReuse,
  })
  const evaluate: ScoreGraph = async (graph, task) => {
    await evaluator.evaluate(graph, task)
    return { score: 0, usage: { calls: 0, tokens: 0 } }
  }
  const learner = await untrainedLearner(set.library, settings, encoder)
  const questions = await embedQuestions(set, encoder)
  if (settings.method === 'paper')
    for (let update = 0; update < sampled; update += 1)
      await updatePolicy(learner, { settings, questions, update, updates: sampled, evaluate })
  else await sampleLooks(settings, learner.policy.space(settings.restriction), questions, evaluate)

  const { made, usage, reused } = evaluator.take()
  const factor =
    settings.method === 'values'
      ? (beyondRandom * evaluationsFor(settings, questions.queries.length)) / made
      : sampled === 0
        ? 0
        : updates / sampled
  const low = times(usage, factor * spread.low)
  const expected = times(usage, factor)
  const high = times(usage, factor * spread.high)
  const range = (field: keyof Usage): Range => ({
    low: low[field],
    expected: expected[field],
    high: high[field],
  })
  const money = (amount: Usage) => costOf(amount, price, new Date())
  const question = times(addUsage(usage, reused), 1 / Math.max(1, made))
  return {
    updates,
    /** Updates that were simulated. */
    sampled,
    calls: range('calls'),
    inputTokens: range('input'),
    outputTokens: range('output'),
    cost: { low: money(low), expected: money(expected), high: money(high) },
    /** One question, answered by the graph the untrained policy builds. */
    perQuestion: {
      calls: question.calls,
      tokens: question.input + question.output,
      cost: money(question),
    },
  }
}

/**
 * Parts for runs on the simulated model. Everything scores 0: the score does not affect the cost, and real scoring
 * may need a sandbox.
 */
export function simulatedParts(
  set: TaskSet,
  split: string,
  execution: TrainOptions['execution'],
): ExecutorParts {
  return {
    set: {
      ...set,
      contractOf: (task) => set.contractOf(task),
      scorer: { version: 'none', score: () => ({ score: 0, parse: 'ok' }) },
    },
    model: new SimulatedModel({ tasks: knownTasks(set, [split]) }),
    tools: openToolbox(),
    settings: { ...validated(executionSettings, execution ?? {}, 'execution'), traceContent: false },
    limit: new CallLimit(1000),
  }
}

/** Runs random graphs on the training questions in turn. */
async function sampleLooks(
  { seed }: TrainingSettings,
  space: ConstructionSpace,
  { queries }: TrainingQuestions,
  evaluate: ScoreGraph,
): Promise<void> {
  const random = deriveRandom(seed, 'estimate')
  const looks = Array.from({ length: sampledLooks }, (_, look) =>
    evaluate(randomGraph(space, random), queries[look % queries.length]!.id),
  )
  await Promise.all(looks)
}

function times(usage: Usage, factor: number): Usage {
  const scaled = Object.entries(usage).map(([field, amount]) => [field, amount * factor])
  return Object.fromEntries(scaled) as unknown as Usage
}
