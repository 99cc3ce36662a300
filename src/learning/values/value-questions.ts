import { AgentGraph } from '../../graph/agent-graph.ts'
import { splitOf, type TaskSet } from '../../tasks/task-set.ts'
import type { TrainingQuestions } from '../training-questions.ts'
import type { Trajectory } from '../trajectory.ts'
import { questionTraits } from './question-traits.ts'
import { textTraits } from './text-traits.ts'
import type { Look } from './value-model.ts'

/** Training questions with the traits that value learning uses. */
export interface ValueQuestions extends TrainingQuestions {
  /** Sets of traits per question: by form alone, then by form and text. */
  readonly traits: readonly (readonly Float64Array[])[]
}

export function withTraits(questions: TrainingQuestions, set: TaskSet): ValueQuestions {
  const { tasks } = splitOf(set, 'train')
  const { of } = questionTraits(tasks, (task) => set.contractOf(task).name)
  const byForm = tasks.map(of)
  const byText = textTraits(questions.queries.map(({ embedding }) => embedding))
  const both = byForm.map((form, question) => Float64Array.from([...form, ...byText[question]!]))
  return { ...questions, traits: [byForm, both] }
}

/** The looks of each recorded update, to resume a training. */
export function roundsIn(
  records: readonly { readonly trajectories: readonly Trajectory[] }[],
  { queries }: TrainingQuestions,
): Look[][] {
  const positions = new Map(queries.map(({ id }, position) => [id, position]))
  return records.map(({ trajectories }) =>
    trajectories.map((trajectory) => ({
      graph: finalGraph(trajectory),
      question: positions.get(trajectory.query)!,
      score: trajectory.terminalScore,
      tokens: trajectory.terminalUsage?.tokens ?? 0,
    })),
  )
}

/** The graph that a recorded trajectory ended with. */
export function finalGraph({ transitions }: Pick<Trajectory, 'transitions'>): AgentGraph {
  return AgentGraph.of(transitions.at(-1)?.graph.units ?? [])
}
