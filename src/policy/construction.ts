import { AgentGraph } from '../graph/agent-graph.ts'
import { type Action, type LegalityMasks, legalityMasks, type Restriction } from '../graph/legality.ts'
import { realizations } from '../library/role-space.ts'
import type { Random } from '../numerics/random.ts'
import { ActionDistribution, emptyLogits, type Logits } from './distribution.ts'
import type { ConstructionPolicy } from './policy.ts'

/** A graph to be built: for which query, with whose randomness, in which space. */
export interface ConstructionJob {
  readonly query: ArrayLike<number>
  readonly random: Random
  readonly restriction: Restriction
  readonly temperature: number
  /** Training draws a dropout mask per decision; inference uses none. */
  readonly dropout: boolean
}

/** One visited state and what was done there: all that an update needs to find the same probabilities again. */
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
 * A graph comes out the same alone or among others, because its draws are its own and the kernels keep rows apart.
 */
export function constructGraphs(
  policy: ConstructionPolicy,
  jobs: readonly ConstructionJob[],
): Construction[] {
  return policy.scratch(() => {
    const queries = policy.queryFeatures(jobs.map((job) => job.query))
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
        // With all units placed STOP has probability one: there is nothing to compute and nothing to draw.
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

/** One forward pass for all states; of the lower heads only the branches that were drawn are evaluated. */
function sampleActions(
  policy: ConstructionPolicy,
  queries: Parameters<ConstructionPolicy['decide']>[0],
  states: Parameters<ConstructionPolicy['decide']>[1],
  jobs: readonly ConstructionJob[],
): Action[] {
  if (states.length === 0) return []
  const { roles } = policy.options
  const batch = policy.decide(queries, states)
  const draws = states.map(({ graph }, decision) => {
    const masks = legalityMasks(graph, policy.space(jobs[decision]!.restriction))
    return new Draw(masks, emptyLogits(roles.roles.length, graph.size), jobs[decision]!)
  })
  const read = (tensor: { data: number }) => tensor.data >> 2

  const pairs = draws.flatMap((draw, decision) => draw.legalRoles().map((role) => ({ decision, role })))
  const stop = read(batch.stopLogits())
  const role = read(
    batch.roleLogits(
      pairs.map((pair) => pair.decision),
      pairs.map((pair) => pair.role),
    ),
  )
  const { workspace } = policy
  for (const [decision, draw] of draws.entries())
    draw.logits.roles[roles.roles.length] = workspace.floats[stop + decision]!
  for (const [row, pair] of pairs.entries())
    draws[pair.decision]!.logits.roles[pair.role] = workspace.floats[role + row]!
  for (const draw of draws) draw.role = draw.distribution(roles).sampleRole(draw.job.random)

  const adding = [...draws.keys()].filter((decision) => draws[decision]!.role < roles.roles.length)
  if (adding.length > 0) {
    const granularity = read(
      batch.granularityLogits(
        adding,
        adding.map((decision) => draws[decision]!.role),
      ),
    )
    for (const [row, decision] of adding.entries()) {
      const draw = draws[decision]!
      for (let z = 0; z < 2; z += 1)
        draw.logits.realizations[draw.role * 2 + z] = workspace.floats[granularity + row * 2 + z]!
      draw.branch = draw.distribution(roles).sampleBranch(draw.role, draw.job.random)
    }
    const edges = adding.flatMap((decision) =>
      draws[decision]!.legalPredecessors().map((unit) => ({ decision, unit })),
    )
    if (edges.length > 0) {
      const edge = read(
        batch.edgeLogits(
          edges.map((entry) => entry.decision),
          edges.map((entry) => draws[entry.decision]!.branch),
          edges.map((entry) => entry.unit),
        ),
      )
      for (const [row, { decision, unit }] of edges.entries()) {
        const draw = draws[decision]!
        draw.logits.edges[draw.branch * states[decision]!.graph.size + unit] = workspace.floats[edge + row]!
      }
    }
  }
  return draws.map((draw) => {
    if (draw.role === roles.roles.length) return { type: 'stop' }
    const predecessors = draw.distribution(roles).samplePredecessors(draw.branch, draw.job.random)
    return {
      type: 'add',
      role: roles.roles[draw.role]!.id,
      realization: realizations[draw.branch & 1]!,
      predecessors,
    }
  })
}

/** A decision half taken: the logits read so far and the choices already made. */
class Draw {
  role = -1
  branch = -1
  readonly masks: LegalityMasks
  readonly logits: Logits
  readonly job: ConstructionJob

  constructor(masks: LegalityMasks, logits: Logits, job: ConstructionJob) {
    this.masks = masks
    this.logits = logits
    this.job = job
  }

  distribution(roles: ConstructionPolicy['options']['roles']): ActionDistribution {
    return new ActionDistribution(roles, this.masks, this.logits, this.job.temperature)
  }

  legalRoles(): number[] {
    const legal: number[] = []
    for (let role = 0; role < this.masks.roles.length - 1; role += 1)
      if (this.masks.roles[role]) legal.push(role)
    return legal
  }

  legalPredecessors(): number[] {
    const units = this.masks.edges.length / this.masks.realizations.length
    const legal: number[] = []
    for (let unit = 0; unit < units; unit += 1)
      if (this.masks.edges[this.branch * units + unit]) legal.push(unit)
    return legal
  }
}

function drawDropout(policy: ConstructionPolicy, graph: AgentGraph, random: Random): Uint8Array[] {
  return graph.units.map(() => {
    const keep = new Uint8Array(policy.options.dimensions.hidden)
    for (let entry = 0; entry < keep.length; entry += 1)
      keep[entry] = random.uniform() < policy.dropoutRate ? 0 : 1
    return keep
  })
}
