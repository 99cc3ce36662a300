import { AgentGraph } from '../graph/agent-graph.ts'
import { type Action, type LegalityMasks, legalityMasks, type Restriction } from '../graph/legality.ts'
import type { Random } from '../numerics/random.ts'
import { ActionDistribution, emptyLogits } from './distribution.ts'
import type { NetworkState } from './edge-aware-gru.ts'
import { legalRoles } from './legal-logits.ts'
import type { ConstructionPolicy, PreparedQueries } from './policy.ts'

/** One graph to build. */
export interface ConstructionJob {
  readonly query: ArrayLike<number>
  readonly random: Random
  readonly restriction: Restriction
  readonly temperature: number
  /** Training draws a dropout mask per decision; inference uses none. */
  readonly dropout: boolean
}

/** One visited state and the action taken: all that an update needs to recompute its probability. */
export interface ConstructionStep {
  readonly graph: AgentGraph
  readonly action: Action
  readonly dropoutKeep: readonly Uint8Array[] | null
}

export interface Construction {
  readonly graph: AgentGraph
  /** Additions and then STOP, also where the unit limit left no other choice. */
  readonly steps: readonly ConstructionStep[]
}

/**
 * Builds graphs by sampling until STOP, all of them together: every round takes one decision for each unfinished graph.
 * A graph is the same whether built alone or with others: it has its own random draws, and kernels keep rows apart.
 */
export function constructGraphs(
  policy: ConstructionPolicy,
  jobs: readonly ConstructionJob[],
): Construction[] {
  // Dropout changes the order of sums, so jobs with and without it must not share a batch.
  const built = new Array<Construction>(jobs.length)
  for (const dropout of [false, true]) {
    const positions = [...jobs.keys()].filter((position) => jobs[position]!.dropout === dropout)
    const kind = positions.map((position) => jobs[position]!)
    for (const [index, construction] of constructTogether(policy, kind, dropout).entries())
      built[positions[index]!] = construction
  }
  return built
}

function constructTogether(
  policy: ConstructionPolicy,
  jobs: readonly ConstructionJob[],
  dropout: boolean,
): Construction[] {
  if (jobs.length === 0) return []
  return policy.scratch(() => {
    const queries = policy.prepareQueries(
      jobs.map((job) => job.query),
      { dropout },
    )
    const building = jobs.map((job, query) => ({
      job,
      query,
      graph: AgentGraph.empty,
      steps: [] as ConstructionStep[],
    }))
    let open = building
    while (open.length > 0) {
      policy.scratch(() => {
        const states = open.map(({ job, query, graph }) => {
          const dropoutKeep = job.dropout ? drawDropout(policy, graph, job.random) : null
          return { graph, query, dropoutKeep }
        })
        // At the unit limit STOP has probability one: nothing to compute, nothing to draw.
        const undecided = states.flatMap(({ graph }, position) =>
          graph.size < policy.options.dimensions.maxUnits ? [position] : [],
        )
        const actions = new Array<Action>(states.length).fill({ type: 'stop' })
        const jobsToAsk = undecided.map((position) => open[position]!.job)
        const drawn = sampleActions(
          policy,
          queries,
          undecided.map((position) => states[position]!),
          jobsToAsk,
        )
        for (const [index, position] of undecided.entries()) actions[position] = drawn[index]!
        for (const [position, entry] of open.entries()) {
          const { graph, dropoutKeep } = states[position]!
          const action = actions[position]!
          entry.steps.push({ graph, action, dropoutKeep })
          if (action.type === 'add') entry.graph = graph.add(action)
        }
      })
      open = open.filter(({ steps }) => steps.at(-1)!.action.type === 'add')
    }
    return building.map(({ graph, steps }) => ({ graph, steps }))
  })
}

/** One forward pass for all states. The lower heads are evaluated only for the drawn branches. */
function sampleActions(
  policy: ConstructionPolicy,
  queries: PreparedQueries,
  states: readonly NetworkState[],
  jobs: readonly ConstructionJob[],
): Action[] {
  if (states.length === 0) return []
  const { workspace } = policy
  const { roles } = policy.options
  const stopRole = roles.roles.length
  const batch = policy.decide(queries, states)
  const masks = states.map(({ graph }, decision) =>
    legalityMasks(graph, policy.space(jobs[decision]!.restriction)),
  )
  const logits = states.map(({ graph }) => emptyLogits(stopRole, graph.size))
  const distributions = logits.map(
    (own, decision) => new ActionDistribution(roles, masks[decision]!, own, jobs[decision]!.temperature),
  )

  const legal = legalRoles(masks)
  const stop = batch.stopLogits().data >> 2
  const role = batch.roleLogits(legal.decisions, legal.roles).data >> 2
  for (const [decision, own] of logits.entries()) own.roles[stopRole] = workspace.floats[stop + decision]!
  for (const [row, decision] of legal.decisions.entries())
    logits[decision]!.roles[legal.roles[row]!] = workspace.floats[role + row]!
  const drawnRoles = distributions.map((distribution, decision) =>
    distribution.sampleRole(jobs[decision]!.random),
  )

  const adding = [...states.keys()].filter((decision) => drawnRoles[decision]! < stopRole)
  const branches = new Map<number, number>()
  if (adding.length > 0) {
    const addingRoles = adding.map((decision) => drawnRoles[decision]!)
    const granularity = batch.granularityLogits(adding, addingRoles).data >> 2
    for (const [row, decision] of adding.entries()) {
      const drawn = drawnRoles[decision]!
      for (let z = 0; z < 2; z += 1)
        logits[decision]!.realizations[drawn * 2 + z] = workspace.floats[granularity + row * 2 + z]!
      branches.set(decision, distributions[decision]!.sampleBranch(drawn, jobs[decision]!.random))
    }
    const edges = legalEdges(adding, branches, masks, states)
    if (edges.units.length > 0) {
      const edge = batch.edgeLogits(edges.decisions, edges.branches, edges.units).data >> 2
      for (const [row, decision] of edges.decisions.entries()) {
        const position = edges.branches[row]! * states[decision]!.graph.size + edges.units[row]!
        logits[decision]!.edges[position] = workspace.floats[edge + row]!
      }
    }
  }
  return distributions.map((distribution, decision) => {
    const branch = branches.get(decision)
    return branch === undefined ? { type: 'stop' } : distribution.addition(branch, jobs[decision]!.random)
  })
}

/** The legal predecessors of the drawn branches, as parallel lists. */
function legalEdges(
  decisions: readonly number[],
  branches: ReadonlyMap<number, number>,
  masks: readonly LegalityMasks[],
  states: readonly NetworkState[],
): { decisions: number[]; branches: number[]; units: number[] } {
  const edges = { decisions: [] as number[], branches: [] as number[], units: [] as number[] }
  for (const decision of decisions) {
    const { size } = states[decision]!.graph
    const branch = branches.get(decision)!
    for (let unit = 0; unit < size; unit += 1) {
      if (!masks[decision]!.edges[branch * size + unit]) continue
      edges.decisions.push(decision)
      edges.branches.push(branch)
      edges.units.push(unit)
    }
  }
  return edges
}

function drawDropout(policy: ConstructionPolicy, graph: AgentGraph, random: Random): Uint8Array[] {
  return graph.units.map(() => {
    const keep = new Uint8Array(policy.options.dimensions.hidden)
    for (let entry = 0; entry < keep.length; entry += 1)
      keep[entry] = random.uniform() < policy.dropoutRate ? 0 : 1
    return keep
  })
}
