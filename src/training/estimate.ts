import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { executeGraph } from '../execution/execute-graph.ts'
import { MemoryShelf, Once } from '../execution/once.ts'
import { openToolbox } from '../execution/toolbox.ts'
import { graphKey } from '../graph/graph-key.ts'
import { embedQuestions } from '../learning/training-questions.ts'
import { untrainedLearner } from '../learning/untrained-policy.ts'
import { type ScoreGraph, updatePolicy } from '../learning/update.ts'
import { CallLimit } from '../models/call-limit.ts'
import { type Cost, costOf, type Price } from '../models/prices.ts'
import type { Call } from '../models/retry.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import { executionSettings } from '../settings/execution.ts'
import { type GivenTrainingSettings, trainingSettings, updatesOf } from '../settings/training.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { SimulatedModel } from '../simulator/model/simulated-model.ts'
import { TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'

export interface Estimate {
  readonly updates: number
  /** Updates that were simulated for it. */
  readonly sampled: number
  readonly calls: Range
  readonly inputTokens: Range
  readonly outputTokens: Range
  readonly cost: { readonly low: Cost; readonly expected: Cost; readonly high: Cost }
  /** One question answered by the organisation that the untrained policy builds. */
  readonly perQuestion: { readonly calls: number; readonly tokens: number; readonly cost: Cost }
}

export interface Range {
  readonly low: number
  readonly expected: number
  readonly high: number
}

/** Enough for a mean, few enough to take seconds. */
const sampledUpdates = 10

/**
 * How far a run may be off what its first updates take: later ones find more in the ledger, and a policy that learns to
 * build larger graphs asks more.
 */
const spread = { low: 0.5, high: 1.4 } as const

/**
 * What a training will take, from running some of its updates on the simulated model. Its replies are about as long as
 * models write, but they are simulated: a model that writes twice as much costs more than this says.
 */
export async function estimate({
  set,
  encoder,
  price,
  settings: given = {},
}: {
  readonly set: TaskSet
  readonly settings?: GivenTrainingSettings
  readonly encoder: FrozenTextEncoder
  readonly price?: Price | undefined
}): Promise<Estimate> {
  const settings = trainingSettings.parse(given)
  const updates = updatesOf(settings, splitOf(set, 'train').tasks.length)
  const sampled = Math.min(sampledUpdates, updates)
  const trial = new Trial(set, settings.requestReuse)
  const learner = await untrainedLearner(set.library, settings, encoder)
  const questions = await embedQuestions(set, encoder)
  for (let update = 0; update < sampled; update += 1)
    await updatePolicy(learner, { settings, questions, update, updates: sampled, evaluate: trial.evaluate })
  const { made, perQuestion } = trial
  const factor = sampled === 0 ? 0 : updates / sampled
  const range = (amount: number): Range => ({
    low: amount * factor * spread.low,
    expected: amount * factor,
    high: amount * factor * spread.high,
  })
  const money = (usage: Usage) => costOf(usage, price, new Date())
  return {
    updates,
    sampled,
    calls: range(made.calls),
    inputTokens: range(made.input),
    outputTokens: range(made.output),
    cost: {
      low: money(times(made, factor * spread.low)),
      expected: money(times(made, factor)),
      high: money(times(made, factor * spread.high)),
    },
    perQuestion: {
      calls: perQuestion.calls,
      tokens: perQuestion.input + perQuestion.output,
      cost: money(perQuestion),
    },
  }
}

/** Runs graphs on the simulated model, without scoring: what an answer is worth does not change what it costs. */
class Trial {
  readonly #executor: TaskExecutor
  readonly #replies: Once<Call> | undefined
  readonly #known = new Set<string>()
  #all: Usage = noUsage
  made: Usage = noUsage

  constructor(set: TaskSet, requestReuse: boolean) {
    this.#executor = new TaskExecutor({
      set,
      model: new SimulatedModel({ tasks: knownTasks(set, ['train']) }),
      tools: openToolbox(),
      settings: executionSettings.parse({ traceContent: false }),
      limit: new CallLimit(1000),
    })
    if (requestReuse) this.#replies = new Once(new MemoryShelf<Call>())
  }

  readonly evaluate: ScoreGraph = async (graph, id) => {
    const key = JSON.stringify([graphKey(graph), id])
    if (!this.#known.has(key)) {
      this.#known.add(key)
      const task = splitOf(this.#executor.parts.set, 'train').tasks.find((one) => one.id === id)!
      const given = { ...this.#executor.optionsFor(task), graph, replies: this.#replies }
      const { usage, reused } = await executeGraph(given)
      this.made = addUsage(this.made, usage)
      this.#all = addUsage(this.#all, usage, reused)
    }
    return { score: 0, usage: { calls: 0, tokens: 0 } }
  }

  get perQuestion(): Usage {
    return times(this.#all, 1 / Math.max(1, this.#known.size))
  }
}

function times(usage: Usage, factor: number): Usage {
  const scaled = Object.entries(usage).map(([field, amount]) => [field, amount * factor])
  return Object.fromEntries(scaled) as unknown as Usage
}
