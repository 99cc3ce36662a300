import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { emptyToolbox } from '../../src/execution/toolbox.ts'
import { graphKey } from '../../src/graph/graph-key.ts'
import { embedQuestions } from '../../src/learning/training-questions.ts'
import { untrainedLearner } from '../../src/learning/untrained-policy.ts'
import { type ScoreGraph, type TrainedUpdate, updatePolicy } from '../../src/learning/update.ts'
import { CallLimit } from '../../src/models/call-limit.ts'
import type { ParameterValues } from '../../src/numerics/parameters.ts'
import { defaultSettings } from '../../src/settings/execution.ts'
import { trainingSettings, updatesOf } from '../../src/settings/training.ts'
import type { SimulatorSettings } from '../../src/simulator/model/simulator.ts'
import { memoryIn } from '../../src/store/ledger/ledger-memory.ts'
import { SqliteLedger } from '../../src/store/ledger/sqlite.ts'
import { TaskExecutor } from '../../src/tasks/task-executor.ts'
import { splitOf, type TaskSet, taskVersion } from '../../src/tasks/task-set.ts'
import { evaluateGraph } from '../../src/training/evaluate-graph.ts'
import { LatencyModel } from './latency-model.ts'

/** One update, as Procedure A1 is written. */
export interface SequentialUpdate {
  readonly calls: number
  readonly wallMs: number
  readonly trajectories: TrainedUpdate['trajectories']
}

/**
 * Trains as Procedure A1 is written: one evaluation after another, one call after another, with a ledger of graphs in a file as its
 * only memory. It writes neither checkpoints nor events, which is in its favour.
 *
 * Call times are added up instead of waited for. Nothing else happens during a call, so an update takes exactly the measured time
 * plus that sum; only timer delays are missing, which is again in its favour. All trajectories are sampled before the first
 * evaluation instead of one by one; the policy sees no evaluation, so they are the same, and so is the sum.
 */
export async function trainSequentially(
  set: TaskSet,
  ledgerFile: string,
  simulator: SimulatorSettings,
): Promise<{ updates: SequentialUpdate[]; weights: ParameterValues }> {
  let slept = 0
  const model = new LatencyModel(simulator, (ms) => {
    slept += ms
  })
  const settings = trainingSettings.parse({})
  const learner = await untrainedLearner(set.library, settings, lexicalEncoder)
  const questions = await embedQuestions(set, lexicalEncoder)
  const total = updatesOf(settings, questions.queries.length)
  const ledger = await SqliteLedger.open(ledgerFile)
  const updates: SequentialUpdate[] = []
  let before = { clock: performance.now(), slept, calls: 0 }
  try {
    const evaluate = oneByOne(graphLedgerEvaluate(set, model, ledger))
    for (let update = 0; update < total; update += 1) {
      const given = { settings, questions, update, updates: total, evaluate }
      const { trajectories } = await updatePolicy(learner, given)
      const now = { clock: performance.now(), slept, calls: model.calls }
      const wallMs = now.clock - before.clock + now.slept - before.slept
      updates.push({ calls: now.calls - before.calls, wallMs, trajectories })
      before = now
    }
  } finally {
    await ledger.close()
  }
  return { updates, weights: learner.policy.parameters.read() }
}

/** Runs a graph unless the ledger has it. Makes every request, even if an identical one was made before. */
function graphLedgerEvaluate(set: TaskSet, model: LatencyModel, ledger: SqliteLedger): ScoreGraph {
  const executor = new TaskExecutor({
    set,
    model,
    tools: emptyToolbox,
    settings: defaultSettings,
    limit: new CallLimit(1),
  })
  const { tasks, references } = splitOf(set, 'train')
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const { evaluations } = memoryIn(ledger)
  return async (graph, id) => {
    const task = byId.get(id)!
    const reference = references.get(id)
    const key = {
      graph: graphKey(graph),
      task: id,
      dataVersion: taskVersion(set, task, reference),
      executor: executor.fingerprint(task),
    }
    const { value } = await evaluations.once(key, async () => ({
      value: await evaluateGraph(executor, graph, task, reference),
      keep: true,
    }))
    const { evaluation } = value
    const { calls, input, output } = evaluation.usage
    return { score: evaluation.score, usage: { calls, tokens: input + output } }
  }
}

function oneByOne(evaluate: ScoreGraph): ScoreGraph {
  let last: Promise<unknown> = Promise.resolve()
  return (graph, task) => {
    const next = last.then(() => evaluate(graph, task))
    last = next
    return next
  }
}
