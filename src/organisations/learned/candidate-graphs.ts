import type { AgentGraph, Finalizer } from '../../graph/agent-graph.ts'
import type { Library } from '../../library/library.ts'
import type { Random } from '../../numerics/random.ts'
import { type Agent, type Edge, graphOf } from './agents.ts'

/** Which agents hear which, for any size. Layered has two layers; in Star, all hear the first. */
const topologies = {
  Chain: (n) =>
    places(n)
      .slice(1)
      .map((to): Edge => [to - 1, to]),
  Star: (n) =>
    places(n)
      .slice(1)
      .map((to): Edge => [0, to]),
  Layered(n) {
    const half = Math.ceil(n / 2)
    return places(half).flatMap((from) => places(n - half).map((to): Edge => [from, half + to]))
  },
  FullConnected: (n) => places(n).flatMap((to) => places(to).map((from): Edge => [from, to])),
  /** Each hears the two before it. */
  Mesh: (n) =>
    places(n).flatMap((to) =>
      places(to)
        .slice(-2)
        .map((from): Edge => [from, to]),
    ),
} as const satisfies Record<string, (n: number) => Edge[]>

export type Topology = keyof typeof topologies

/** A topology with random agents, without edges whose types do not match. */
export function candidateGraph(
  topology: Topology,
  size: number,
  pool: readonly Agent[],
  { space }: Library,
  finalizer: Finalizer,
  random: Random,
): AgentGraph {
  const agents = Array.from({ length: size }, () => pool[Math.floor(random.uniform() * pool.length)]!)
  const edges = topologies[topology](size).filter(([from, to]) =>
    space.compatible(agents[from]!.role, agents[to]!.role),
  )
  return graphOf(agents, edges, finalizer)
}

function places(count: number): number[] {
  return [...Array(count).keys()]
}
