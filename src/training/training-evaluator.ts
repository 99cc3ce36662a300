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
import { evaluationsHere } from './evaluate-graph.ts'
import type { MadeEvaluation, MakeEvaluation } from './make-evaluation.ts'

/** The score and usage that training uses of an evaluation. */
export function graphScore(
  { score, usage, reused, further = {} }: Evaluation,
  price?: RunPrice,
): GraphScore & Required<Pick<GraphScore, 'usage'>> {
  // Reused calls count too: a penalty must not depend on the ledger's contents.
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

/** Independent of the time of day. */
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

/** Totals over the evaluations of one update. */
export type EvaluationTally = ReturnType<ReturnType<typeof openEvaluator>['take']>

/** Evaluates graphs on training tasks: from the ledger if known, else by running and scoring them. */
export function openEvaluator(options: {
  readonly parts: ExecutorParts
  readonly ledger: Ledger
  /** Whether identical requests of different graphs share one reply. */
  readonly requestReuse: boolean
  /** Runs and scores graphs; in this process by default. */
  readonly make?: MakeEvaluation
  /** Ends everything immediately; replies received are kept. */
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
      // This update is lost, so stop everything else it has under way.
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
    /** Totals since the last call. */
    take() {
      const [first, ...others] = executions.map(({ cost }) => cost)
      const tally = {
        made: executions.length,
        /** Found in the ledger. */
        known,
        usage: addUsage(...executions.map(({ usage }) => usage)),
        /** What reuse of identical requests saved. */
        reused: addUsage(...executions.map(({ reused }) => reused)),
        cost: first === undefined ? ('unpriced' as const) : others.reduce(addCosts, first),
        /** Lower bound on their duration. */
        boundMs: Math.max(paths.criticalMs, paths.workMs / parts.limit.limit),
      }
      paths = new CallPaths()
      executions = []
      known = 0
      return tally
    },
    /** Resolves once nothing is under way and everything is in the ledger, which can then be closed. */
    async ended(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}
