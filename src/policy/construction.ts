import { AgentGraph } from '../graph/agent-graph.ts'
import { type Action, legalityMasks, type Restriction } from '../graph/legality.ts'
import type { Random } from '../numerics/random.ts'
import { ActionDistribution } from './distribution.ts'
import type { NetworkState } from './edge-aware-gru.ts'
import { openLogits } from './legal-logits.ts'
import type { QueryFeatures } from './network.ts'
import type { ConstructionPolicy } from './policy.ts'

/** One graph to build. */
export interface ConstructionJob {
  readonly query: ArrayLike<number>
  /** Without it, the most probable choice is taken at every step. Required for dropout. */
  readonly random?: Random
  readonly restriction: Restriction
  readonly temperature: number
  /** Training draws a dropout mask per decision; inference uses none. */
  readonly dropout: boolean
}

/** A visited state and the action taken: what an update needs to recompute its probability. */
export interface ConstructionStep {
  readonly graph: AgentGraph
  readonly action: Action
  readonly dropoutKeep: readonly Uint8Array[] | null
}

export interface Construction {
  readonly graph: AgentGraph
  /** The additions, then STOP, even if the unit limit left no other choice. */
  readonly steps: readonly ConstructionStep[]
}

/**
 * Builds graphs until STOP, all in parallel: every round takes one decision for each unfinished graph. A graph is the
 * same whether built alone or with others: it has its own random draws, and kernels compute each row independently.
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
    const vectors = jobs.map((job) => job.query)
    const queries = policy.prepareQueries(vectors, { dropout })
    const building = jobs.map((job, query) => ({
      job,
      query,
      graph: AgentGraph.empty,
      steps: [] as ConstructionStep[],
    }))
    for (let open = building; open.length > 0; ) {
      const states = open.map(({ job, query, graph }) => {
        const dropoutKeep = dropout ? drawDropout(policy, graph, job.random!) : null
        return { job, query, graph, dropoutKeep }
      })
      // At the unit limit STOP has probability one: nothing to compute or draw.
      const undecided = states.filter(({ graph }) => graph.size < policy.options.dimensions.maxUnits)
      const actions = policy.scratch(() => sampleActions(policy, queries, undecided))
      for (const [position, entry] of open.entries()) {
        const state = states[position]!
        const { graph, dropoutKeep } = state
        const action = actions[undecided.indexOf(state)] ?? { type: 'stop' }
        entry.steps.push({ graph, action, dropoutKeep })
        if (action.type === 'add') entry.graph = graph.add(action)
      }
      open = open.filter(({ steps }) => steps.at(-1)!.action.type === 'add')
    }
    return building.map(({ graph, steps }) => ({ graph, steps }))
  })
}

/** One forward pass for all states. The lower heads are evaluated only for the branches drawn. */
function sampleActions(
  policy: ConstructionPolicy,
  queries: QueryFeatures,
  states: readonly (NetworkState & { readonly job: ConstructionJob })[],
): Action[] {
  if (states.length === 0) return []
  const { roles } = policy.options
  const masks = states.map(({ graph, job }) => legalityMasks(graph, policy.space(job.restriction)))
  const logits = openLogits(policy.decide(queries, states), masks, policy.workspace)
  const choices = states.map(({ job: { temperature, random } }, decision) => ({
    distribution: new ActionDistribution(roles, masks[decision]!, logits.values[decision]!, temperature),
    random,
    role: 0,
    branch: 0,
  }))

  logits.readRoles()
  for (const choice of choices) choice.role = choice.distribution.sampleRole(choice.random)

  const adding = [...choices.keys()].filter((decision) => choices[decision]!.role < roles.roles.length)
  const drawn = adding.map((decision) => choices[decision]!)
  logits.readRealizations(
    adding,
    drawn.map(({ role }) => role),
  )
  for (const choice of drawn) choice.branch = choice.distribution.sampleBranch(choice.role, choice.random)

  logits.readEdges(
    adding,
    drawn.map(({ branch }) => branch),
  )
  return choices.map(({ distribution, random, role, branch }) =>
    role < roles.roles.length ? distribution.addition(branch, random) : { type: 'stop' },
  )
}

export function drawDropout(policy: ConstructionPolicy, graph: AgentGraph, random: Random): Uint8Array[] {
  return graph.units.map(() => {
    const keep = new Uint8Array(policy.options.dimensions.hidden)
    for (let entry = 0; entry < keep.length; entry += 1)
      keep[entry] = random.uniform() < policy.dropoutRate ? 0 : 1
    return keep
  })
}
