import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { GraphLook, LearnerSource } from '../learning/graph-learner.ts'
import type { ScoreGraph } from '../learning/update.ts'
import { deriveRandom } from '../numerics/random.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import type { TrainingSample } from './estimate.ts'

/**
 * Most trainings have no more, so all of theirs are run: on few questions, later updates repeat many graphs of earlier
 * ones, which a sample would not show. Takes seconds.
 */
const sampledUpdates = 200

/** Runs updates of a learning organisation: all, or some spread over its training. Skips optimizer steps if it can. */
export async function sampleLearner(
  organisation: LearnerSource,
  {
    set,
    encoder,
    seed,
  }: { readonly set: TaskSet; readonly encoder: FrozenTextEncoder; readonly seed: number },
  run: (graph: AgentGraph, task: string) => Promise<void>,
): Promise<TrainingSample> {
  const { library, profile } = set
  const { tasks } = splitOf(set, 'train')
  const learner = await organisation.open({ library, profile, encoder, seed })
  const updates = learner.updatesFor(tasks.length)
  const sampled = Math.min(sampledUpdates, updates)
  // Half of the graphs count as right, so that the learner has something to refine. The result is discarded.
  const evaluate: ScoreGraph = async (graph, task) => {
    await run(graph, task)
    const isRight = deriveRandom(seed, 'estimate', graphKey(graph), task).uniform() < 0.5
    return { score: Number(isRight), cost: 0 }
  }
  const rounds: (readonly GraphLook[])[] = Array.from({ length: updates }, () => [])
  for (let place = 0; place < sampled; place += 1) {
    const update = Math.floor((place * updates) / sampled)
    const given = { update, tasks, rounds: rounds.slice(0, update), evaluate }
    rounds[update] = (await learner.update({ ...given, mayContinue: () => false }))?.looks ?? []
  }
  return { updates, sampled, factor: sampled === 0 ? 0 : updates / sampled }
}
