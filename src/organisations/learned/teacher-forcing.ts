import type { AgentGraph } from '../../graph/agent-graph.ts'
import { rowsOf, type Tensor } from '../../numerics/workspace.ts'
import type { Agent } from './agents.ts'
import type { Layers } from './network.ts'
import { type Sequence, sequenceOf } from './sequence.ts'

/**
 * Sequences of different lengths as one batch, longest first, so that the sequences that still have a step are the first rows.
 * Rows are ordered by step.
 */
interface Steps {
  /** For each step, the number of sequences that have it. */
  readonly counts: readonly number[]
  /** The sequence and the step of each row. */
  readonly rows: readonly { readonly sequence: number; readonly step: number }[]
}

/** `lengths` must be in descending order. */
function stepsOf(lengths: readonly number[]): Steps {
  const counts = Array.from(
    { length: lengths[0] ?? 0 },
    (_, step) => lengths.filter((length) => length > step).length,
  )
  return {
    counts,
    rows: counts.flatMap((count, step) =>
      Array.from({ length: count }, (_, sequence) => ({ sequence, step })),
    ),
  }
}

interface Lesson {
  readonly question: Float32Array
  readonly graph: AgentGraph
}

/**
 * Inputs for networks that write a graph node by node when all choices are known in advance: a row for each choice of a node
 * or of the end, ordered by step.
 */
export function forcedChoices<Given extends Lesson>(
  layers: Layers,
  lessons: readonly Given[],
  pool: readonly Agent[],
  vectors: readonly Float32Array[],
) {
  const { tape } = layers
  const sorted = lessons
    .map((lesson) => ({ ...lesson, ...sequenceOf(lesson.graph, pool) }))
    .sort((a, b) => b.nodes.length - a.nodes.length)
  const { counts, rows } = stepsOf(sorted.map(({ nodes }) => nodes.length + 1))
  const choices = rows.map(({ sequence, step }) => ({ sequence, step, lesson: sorted[sequence]! }))
  const written = stepsOf(sorted.map(({ nodes }) => nodes.length))
  const read = written.rows.map(({ sequence, step }) => sorted[sequence]!.nodes[step]!)
  // The history before the first choice is zero.
  const histories = tape.zeros(rows.length, vectors[0]!.length)
  gruStates(layers, 'history', layers.rowsAt(historyInputs(layers, vectors), read), written.counts, {
    into: rowsOf(histories, sorted.length, read.length),
  })
  const tasks = taskRows(
    layers,
    sorted.map(({ question }) => question),
  )
  const owners = rows.map(({ sequence }) => sequence)
  return { choices, counts, tasks, owners, mixed: fused(layers, histories, layers.rowsAt(tasks, owners)) }
}

/** For each node with earlier ones, a walk over them: the rows of all walks, and where each starts. */
export function forcedWalks<Given extends Sequence>(
  choices: readonly { readonly sequence: number; readonly step: number; readonly lesson: Given }[],
) {
  const rowOf = new Map(choices.map(({ sequence, step }, row) => [`${sequence} ${step}`, row]))
  const walks = choices
    .map((choice, row) => ({ ...choice, row }))
    .filter(({ step, lesson }) => step > 0 && step < lesson.nodes.length)
    .sort((one, other) => other.step - one.step)
  const { counts, rows } = stepsOf(walks.map(({ step }) => step))
  const edges = rows.map(({ sequence: walk, step: earlier }) => {
    const { lesson, sequence, step, row } = walks[walk]!
    return { lesson, sequence, step, earlier, row, earlierRow: rowOf.get(`${sequence} ${earlier}`)! }
  })
  return { counts, edges, beginnings: walks.map(({ row }) => row) }
}

export function taskRows(layers: Layers, questions: readonly Float32Array[]): Tensor {
  return layers.linear('task.1', layers.relu(layers.linear('task.0', layers.constant(questions))))
}

/** The history GRU's input part for each vector of the pool. */
export function historyInputs(layers: Layers, vectors: readonly Float32Array[]): Tensor {
  return layers.gruInput('history', layers.constant(vectors))
}

/**
 * A GRU over sequences with known inputs: one product per step for all sequences. `inputs` are rows of `gruInput`; the states
 * of all steps are returned in the same order.
 */
export function gruStates(
  layers: Layers,
  name: string,
  inputs: Tensor,
  counts: readonly number[],
  {
    first,
    into = layers.tape.zeros(inputs.rows, inputs.columns / 3),
  }: { first?: Tensor; into?: Tensor } = {},
): Tensor {
  let previous = first
  let from = 0
  for (const [step, count] of counts.entries()) {
    const state = rowsOf(into, from, count)
    layers.gruOn(name, rowsOf(inputs, from, count), previous, state)
    from += count
    previous = rowsOf(state, 0, counts[step + 1] ?? 0)
  }
  return into
}

/** Blends history and task row by row: x = (1 − g)h + g·t with g = σ(h·t/d). */
export function fused(layers: Layers, histories: Tensor, tasks: Tensor): Tensor {
  const rows = [...Array(histories.rows).keys()]
  const gates = layers.sigmoid(
    layers.affine(layers.dots(histories, rows, tasks, rows), 1 / histories.columns),
  )
  return layers.blendRows(gates, histories, tasks)
}
