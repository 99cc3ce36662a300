import { queryEmbedding } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { MemoryShelf, Once } from '../execution/once.ts'
import { openToolbox } from '../execution/toolbox.ts'
import { graphKey } from '../graph/graph-key.ts'
import { PolicyLearner } from '../learning/policy-learner.ts'
import { trainPolicy } from '../learning/train-policy.ts'
import { untrainedPolicy } from '../learning/untrained-policy.ts'
import type { Task } from '../library/task.ts'
import { CallLimit } from '../models/call-limit.ts'
import { type Cost, costOf, type Price } from '../models/prices.ts'
import type { Call } from '../models/retry.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import { executionSettings } from '../settings/execution.ts'
import { type GivenTrainingSettings, trainingSettings } from '../settings/training.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { SimulatedModel } from '../simulator/model/simulated-model.ts'
import { TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, splitVersion, type TaskSet } from '../tasks/task-set.ts'

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
export async function estimate(options: {
  readonly set: TaskSet
  readonly settings?: GivenTrainingSettings
  readonly encoder: FrozenTextEncoder
  readonly price?: Price | undefined
  readonly execution?: Parameters<typeof executionSettings.parse>[0]
}): Promise<Estimate> {
  const { set, encoder, price } = options
  const settings = trainingSettings.parse(options.settings ?? {})
  const { tasks } = splitOf(set, 'train')
  const all = settings.initialisationOnly ? 0 : tasks.length * settings.passes
  const updates = Math.min(all, settings.updates ?? all)
  const sampled = Math.min(sampledUpdates, updates)
  const trial = new Trial(set, settings.requestReuse, options.execution)
  const learner = new PolicyLearner(await untrainedPolicy(set.library, settings, encoder))
  const queries: { id: string; embedding: Float32Array }[] = []
  for (const task of tasks) queries.push({ id: task.id, embedding: await queryEmbedding(task, set, encoder) })
  await trainPolicy(learner, {
    seed: settings.seed,
    queries,
    dataVersion: splitVersion(set, 'train'),
    passes: settings.passes,
    updates: sampled,
    trajectories: settings.trajectories,
    probes: settings.finalRewardOnly ? 0 : settings.probes,
    restriction: settings.restriction,
    rewards: settings.rewards,
    evaluate: trial.evaluate,
  })
  const factor = sampled === 0 ? 0 : updates / sampled
  const range = (amount: number): Range => ({
    low: amount * factor * spread.low,
    expected: amount * factor,
    high: amount * factor * spread.high,
  })
  const { calls, input, output } = trial.made
  const money = (share: number) => costOf(times(trial.made, factor * share), price, new Date())
  const question = times(trial.perEvaluation(), 1)
  return {
    updates,
    sampled,
    calls: range(calls),
    inputTokens: range(input),
    outputTokens: range(output),
    cost: { low: money(spread.low), expected: money(1), high: money(spread.high) },
    perQuestion: {
      calls: question.calls,
      tokens: question.input + question.output,
      cost: costOf(question, price, new Date()),
    },
  }
}

/** Runs graphs on the simulated model, without scoring: what an answer is worth does not change what it costs. */
class Trial {
  readonly #executor: TaskExecutor
  readonly #tasks: ReadonlyMap<string, Task>
  readonly #replies: Once<Call> | undefined
  readonly #known = new Set<string>()
  #evaluations = 0
  #all: Usage = noUsage
  made: Usage = noUsage

  constructor(set: TaskSet, requestReuse: boolean, execution: unknown) {
    this.#executor = new TaskExecutor({
      set,
      model: new SimulatedModel({ tasks: knownTasks(set, ['train']) }),
      tools: openToolbox(),
      settings: executionSettings.parse({ ...(execution as object), traceContent: false }),
      limit: new CallLimit(1000),
    })
    this.#tasks = new Map(splitOf(set, 'train').tasks.map((task) => [task.id, task]))
    if (requestReuse) this.#replies = new Once(new MemoryShelf<Call>())
  }

  readonly evaluate = async (graph: Parameters<TaskExecutor['run']>[0], id: string) => {
    const key = JSON.stringify([graphKey(graph), id])
    if (!this.#known.has(key)) {
      this.#known.add(key)
      const task = this.#tasks.get(id)!
      const { usage, reused } = await this.#executor.run(graph, task, { replies: this.#replies })
      this.made = addUsage(this.made, usage)
      this.#all = addUsage(this.#all, usage, reused)
      this.#evaluations += 1
    }
    return { score: 0, usage: { calls: 0, tokens: 0 } }
  }

  perEvaluation(): Usage {
    return times(this.#all, this.#evaluations === 0 ? 0 : 1 / this.#evaluations)
  }
}

function times(usage: Usage, factor: number): Usage {
  const scaled = Object.entries(usage).map(([field, amount]) => [field, amount * factor])
  return Object.fromEntries(scaled) as unknown as Usage
}
