import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { GraphScore } from '../learning/update.ts'
import type { Task } from '../library/task.ts'
import { addCosts, type Cost, costOf, type Price, type RunPrice, runPriceOf } from '../models/prices.ts'
import { addUsage, type TokenUsage, type Usage } from '../models/usage.ts'
import { failPoint } from '../store/fail-point.ts'
import type { Evaluation } from '../store/ledger/evaluation.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import { memoryIn } from '../store/ledger/ledger-memory.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, taskVersion } from '../tasks/task-set.ts'
import { CallPaths } from './call-path.ts'
import { evaluationsHere, type MadeEvaluation, type MakeEvaluation } from './make-evaluation.ts'

/** What is learned from an evaluation. */
export function graphScore(
  { score, usage, reused, further = {} }: Evaluation,
  price?: RunPrice,
): GraphScore & Required<Pick<GraphScore, 'usage'>> {
  // Reused calls count too: a penalty must not depend on what the ledger knew.
  const all = addUsage(usage, reused)
  const own = Object.values(further).reduce(usageWithout, all)
  const cost = Object.entries(further).reduce(
    (sum, [model, used]) => addCosts(sum, plainCost(used, price?.further?.[model])),
    plainCost(own, price),
  )
  const { calls, input, output } = all
  return {
    score,
    usage: { calls, tokens: input + output },
    ...(cost !== 'unpriced' && { cost: cost.amount }),
  }
}

/** Whatever the hour. */
function plainCost(usage: TokenUsage, price: Price | undefined): Cost {
  return costOf(usage, price && { ...price, peak: undefined }, new Date(0))
}

function usageWithout(all: Usage, part: Usage): Usage {
  const { input, cachedInput, output } = all
  return {
    ...all,
    input: input - part.input,
    cachedInput: cachedInput - part.cachedInput,
    output: output - part.output,
  }
}

/** What the evaluations of one update took. */
export type EvaluationTally = ReturnType<ReturnType<typeof openEvaluator>['take']>

/** Evaluates graphs on training tasks: from the ledger where they are known, else by having them run and scored. */
export function openEvaluator(options: {
  readonly parts: ExecutorParts
  readonly ledger: Ledger
  /** Whether identical requests of different graphs are one. */
  readonly requestReuse: boolean
  /** Who runs and scores; this process by default. */
  readonly make?: MakeEvaluation
  /** Ends everything at once; what was answered is kept. */
  readonly signal?: AbortSignal
}) {
  const { parts, ledger, requestReuse } = options
  const price = runPriceOf(parts)
  const { tasks, references } = splitOf(parts.set, 'train')
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const versions = new Map<string, string>()
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, ...(options.signal === undefined ? [] : [options.signal])])
  const underWay = new Set<Promise<unknown>>()
  const memory = memoryIn(ledger, () => failPoint('after:call'))
  const { make = evaluationsHere(parts, memory, ledger) } = options
  const executor = new TaskExecutor(parts)
  let paths = new CallPaths()
  let executions: MadeEvaluation['executions'][number][] = []
  let known = 0

  const versionOf = (task: Task) => {
    const version = versions.get(task.id) ?? taskVersion(parts.set, task, references.get(task.id))
    versions.set(task.id, version)
    return version
  }

  const scoreOf = async (graph: AgentGraph, task: Task): Promise<GraphScore> => {
    const key = {
      graph: graphKey(graph),
      task: task.id,
      dataVersion: versionOf(task),
      executor: executor.fingerprint(task),
    }
    const reference = references.get(task.id)
    const makeIt = async (until: AbortSignal) => {
      const made = await make({ key, graph, task, reference, requestReuse }, until)
      executions.push(...made.executions)
      paths.add(made.calls)
      return { value: made, keep: made.trace !== undefined }
    }
    try {
      const { value, origin } = await memory.evaluations.once(key, makeIt, signal)
      if (origin === 'kept') known += 1
      if (origin === 'made') failPoint('after:evaluation')
      signal.throwIfAborted()
      return graphScore(value.evaluation, price)
    } catch (error) {
      // Nothing of this update will be used: what else is under way ends too.
      stop.abort(error)
      throw signal.reason
    }
  }

  return {
    evaluate: (graph: AgentGraph, id: string): Promise<GraphScore> => {
      const scored = scoreOf(graph, byId.get(id)!).finally(() => underWay.delete(scored))
      underWay.add(scored)
      return scored
    },
    /** What was evaluated since the last time this was asked. */
    take() {
      const [first, ...others] = executions.map(({ cost }) => cost)
      const tally = {
        made: executions.length,
        /** Found in the ledger. */
        known,
        usage: addUsage(...executions.map(({ usage }) => usage)),
        /** What identical requests saved. */
        reused: addUsage(...executions.map(({ reused }) => reused)),
        cost: first === undefined ? ('unpriced' as const) : others.reduce(addCosts, first),
        /** The shortest time that their calls allowed. */
        boundMs: Math.max(paths.criticalMs, paths.workMs / parts.limit.limit),
      }
      paths = new CallPaths()
      executions = []
      known = 0
      return tally
    },
    /** Resolves once nothing is under way any more and all of it is in the ledger, which can be closed then. */
    async ended(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}
