import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { openToolbox } from '../execution/toolbox.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { ConstructionSpace } from '../graph/legality.ts'
import type { LearnerSource } from '../learning/graph-learner.ts'
import { embedQuestions, type TrainingQuestions } from '../learning/training-questions.ts'
import { untrainedLearner } from '../learning/untrained-policy.ts'
import { type ScoreGraph, updatePolicy } from '../learning/update.ts'
import { CallLimit } from '../models/call-limit.ts'
import type { ChatModel, ModelIdentity } from '../models/chat-model.ts'
import { type Cost, costOf, type Price, type PriceTable, runPriceOf } from '../models/prices.ts'
import { addUsage, tokensIn, type Usage } from '../models/usage.ts'
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
import type { TaskSet } from '../tasks/task-set.ts'
import { sampleLearner } from './sample-learner.ts'
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

/** How much of a training was run, and how many times more all of it takes. */
export interface TrainingSample {
  readonly updates: number
  /** Updates that were simulated. */
  readonly sampled: number
  readonly factor: number
}

export interface EstimateOptions {
  readonly set: TaskSet
  readonly settings?: GivenTrainingSettings
  readonly encoder: FrozenTextEncoder
  readonly price?: Price
  readonly execution?: TrainOptions['execution']
  /** Trains in place of the policy. */
  readonly organisation?: LearnerSource
  /** If nodes may choose among several models: each call is priced as its own, and `price` has no part. */
  readonly pool?: {
    readonly model: ModelIdentity
    readonly models: Readonly<Record<string, ModelIdentity>>
    readonly prices?: PriceTable
  }
}

/**
 * Estimates the calls, tokens and cost of a training by running some of its updates on the simulated model. Simulated
 * replies are about as long as those of real models; a model that writes twice as much will cost more than this.
 */
export async function estimate(options: EstimateOptions) {
  const { set, price, organisation } = options
  const settings = validated(trainingSettings, options.settings ?? {}, 'training')
  await using ledger = await SqliteLedger.open(':memory:')
  const parts = pooledParts(simulatedParts(set, 'train', options.execution), options.pool)
  const evaluator = openEvaluator({ parts, ledger, requestReuse: settings.requestReuse })
  let pooled = 0
  const evaluate = async (graph: AgentGraph, task: string) => {
    const { cost = Number.NaN } = await evaluator.evaluate(graph, task)
    pooled += cost
  }
  const { updates, sampled, factor } =
    organisation === undefined
      ? await samplePolicy(options, settings, evaluate)
      : await sampleLearner(organisation, { ...options, seed: settings.seed }, evaluate)
  const { made, usage, reused } = evaluator.take()
  const low = times(usage, factor * spread.low)
  const expected = times(usage, factor)
  const high = times(usage, factor * spread.high)
  const range = (field: keyof Usage): Range => ({
    low: low[field],
    expected: expected[field],
    high: high[field],
  })
  const all = tokensIn(addUsage(usage, reused))
  const money = (amount: Usage): Cost => {
    if (options.pool === undefined) return costOf(amount, price, new Date())
    const currency = runPriceOf(parts)?.currency
    return currency === undefined ? 'unpriced' : { amount: (pooled * tokensIn(amount)) / all, currency }
  }
  const question = times(addUsage(usage, reused), 1 / Math.max(1, made))
  return {
    updates,
    /** Updates that were simulated. */
    sampled,
    calls: range('calls'),
    inputTokens: range('input'),
    outputTokens: range('output'),
    cost: { low: money(low), expected: money(expected), high: money(high) },
    /** One question, answered by the graphs that were sampled: as an untrained system would. */
    perQuestion: {
      calls: question.calls,
      tokens: question.input + question.output,
      cost: money(question),
    },
  }
}

async function samplePolicy(
  { set, encoder }: EstimateOptions,
  settings: TrainingSettings,
  run: (graph: AgentGraph, task: string) => Promise<void>,
): Promise<TrainingSample> {
  const evaluate: ScoreGraph = async (graph, task) => {
    await run(graph, task)
    return { score: 0, usage: { calls: 0, tokens: 0 } }
  }
  const learner = await untrainedLearner(set.library, settings, encoder)
  const questions = await embedQuestions(set, encoder)
  const updates = updatesOf(settings, questions.queries.length)
  const sampled = Math.min(sampledUpdates, updates)
  if (settings.method === 'paper') {
    for (let update = 0; update < sampled; update += 1)
      await updatePolicy(learner, { settings, questions, update, updates: sampled, evaluate })
    return { updates, sampled, factor: sampled === 0 ? 0 : updates / sampled }
  }
  await sampleLooks(settings, learner.policy.space(settings.restriction), questions, evaluate)
  const wanted = evaluationsFor(settings, questions.queries.length)
  return { updates, sampled, factor: (beyondRandom * wanted) / sampledLooks }
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

/** Every model of a pool answers as the simulated one does, under its own name. */
function pooledParts(parts: ExecutorParts, pool: EstimateOptions['pool']): ExecutorParts {
  if (pool === undefined) return parts
  const named = (identity: ModelIdentity): ChatModel => ({
    identity,
    ask: (request, signal) => parts.model.ask(request, signal),
  })
  const models = Object.entries(pool.models).map(([name, identity]) => [name, named(identity)])
  return {
    ...parts,
    model: named(pool.model),
    models: Object.fromEntries(models),
    settings: { ...parts.settings, prices: pool.prices ?? {} },
  }
}

function times(usage: Usage, factor: number): Usage {
  const scaled = Object.entries(usage).map(([field, amount]) => [field, amount * factor])
  return Object.fromEntries(scaled) as unknown as Usage
}
