import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { openToolbox } from '../../src/execution/toolbox.ts'
import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import { embedQuestions } from '../../src/learning/training-questions.ts'
import { untrainedLearner } from '../../src/learning/untrained-policy.ts'
import type { CallLimit } from '../../src/models/call-limit.ts'
import { deriveRandom } from '../../src/numerics/random.ts'
import { constructGraphs } from '../../src/policy/construction.ts'
import { defaultSettings } from '../../src/settings/execution.ts'
import { trainingSettings } from '../../src/settings/training.ts'
import { knownTasks } from '../../src/simulator/model/known-task.ts'
import type { ExecutorParts } from '../../src/tasks/task-executor.ts'
import { splitOf, type TaskSet } from '../../src/tasks/task-set.ts'
import { LatencyModel } from '../training/latency-model.ts'
import { trainingQuestions } from '../training/questions.ts'

export const callsPerWorker = 8
export const scaleSet: TaskSet = trainingQuestions(24)

/** What is needed to run a graph on the bench's questions, with a slow simulated model. */
export function partsWith(set: TaskSet, latencyMs: number, limit: CallLimit): ExecutorParts {
  const model = new LatencyModel({ tasks: knownTasks(set), seed: 1, latencyMs })
  return { set, model, tools: openToolbox(null), settings: defaultSettings, limit }
}

/** Graphs of an untrained policy on every question, as value learning requests them at once. */
export async function drawPairs(set: TaskSet, graphs: number): Promise<(readonly [AgentGraph, string])[]> {
  const learner = await untrainedLearner(set.library, trainingSettings.parse({}), lexicalEncoder)
  const { queries } = await embedQuestions(set, lexicalEncoder)
  const drawn = constructGraphs(
    learner.policy,
    Array.from({ length: graphs }, (_, number) => ({
      query: queries[number % queries.length]!.embedding,
      random: deriveRandom(1, 'scale', number),
      temperature: 1,
      restriction: 'mixed' as const,
      dropout: false,
    })),
  )
  const tasks = splitOf(set, 'train').tasks
  return drawn.flatMap(({ graph }) => tasks.map(({ id }) => [graph, id] as const))
}
