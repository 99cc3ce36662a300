import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import type { GraphLearner, GraphLook, LearningRound } from '../../src/learning/graph-learner.ts'
import type { Task } from '../../src/library/task.ts'
import type { Random } from '../../src/numerics/random.ts'
import { tinyLibrary, tinyProfile } from '../tiny-library.ts'
import { narrowEncoder } from './narrow-encoder.ts'

/** What a learner is opened with: the tiny library, and an encoder with `dims` entries. */
export function learnerMeans(dims: number, seed: number) {
  return { library: tinyLibrary, profile: tinyProfile, encoder: narrowEncoder(dims), seed }
}

/** The vectors by which learners know the atomic roles. */
export function roleVectors({ encoder }: ReturnType<typeof learnerMeans>) {
  return encoder.encode(tinyLibrary.texts.map(({ role, atomic }) => `${role}\n${atomic}`))
}

export const worldTasks: readonly Task[] = [
  'How many apples?',
  'Which town is it?',
  'What is the sum?',
  'Who was it?',
].map((question, at) => ({ id: `task-${at}`, question, metadata: {} }))

/** This many questions: the four repeated under other ids. */
export function manyTasks(count: number, prefix = 'task'): Task[] {
  return Array.from({ length: count }, (_, at) => ({ ...worldTasks[at % 4]!, id: `${prefix}-${at}` }))
}

/**
 * A complete training in a world where each graph has a fixed worth; returns the mean worth in use before
 * and after.
 */
export async function improvement(
  learner: GraphLearner,
  tasks: readonly Task[],
  worth: (graph: AgentGraph, task: Task) => number,
): Promise<{ readonly before: number; readonly after: number }> {
  const meanWorth = async () => {
    const used = manyTasks(60, 'use')
    let sum = 0
    for (const task of used) sum += worth(await learner.graphFor(task), task)
    return sum / used.length
  }
  const before = await meanWorth()
  const rounds: (readonly GraphLook[])[] = []
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const evaluate: LearningRound['evaluate'] = async (graph, id) => ({ score: worth(graph, byId.get(id)!) })
  for (let update = 0; update < learner.updatesFor(tasks.length); update += 1)
    rounds.push((await learner.update({ update, tasks, rounds, evaluate, mayContinue: () => true }))!.looks)
  return { before, after: await meanWorth() }
}

/** Draws exactly these numbers, in order; noise is zero. */
export function scriptedRandom(...uniforms: readonly number[]): Random {
  const left = [...uniforms]
  return {
    uniform() {
      if (left.length === 0) throw new Error('The script has no more numbers.')
      return left.shift()!
    },
    normal: () => 0,
  }
}
