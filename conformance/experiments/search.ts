import { SearchRoute } from '../../src/experiments/search/route.ts'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { graphKey } from '../../src/graph/graph-key.ts'
import { drawCandidates } from '../../src/learning/search/candidates.ts'
import {
  demonstrationAt,
  demonstrationsOf,
  type GraphPool,
  searchQuestion,
  tiedForBest,
} from '../../src/learning/search/pool.ts'
import { defineRoleSpace } from '../../src/library/role-space.ts'
import { goldenUnits } from '../policy/golden.ts'
import type { Computed } from './tables.ts'

// biome-ignore lint/suspicious/noExplicitAny: golden input.
type Golden = any

const graphOf = (units: Golden) => AgentGraph.of(goldenUnits.parse(units))
/** Roles are named by their index. */
const unitsOf = (graph: AgentGraph) => graph.units.map((unit) => ({ ...unit, role: Number(unit.role) }))

export function candidatesOf({ dims, library, restriction, draws }: Golden): Computed {
  const shapes = library.roles.map(({ atomic, group }: Golden, index: number) => ({
    id: String(index),
    atomic,
    group,
  }))
  const space = {
    roles: defineRoleSpace(shapes, (from, to) => library.compatible[from][to]),
    restriction,
    maxUnits: dims.max_units,
    maxDepth: dims.max_depth,
  }
  let used = 0
  const uniform = () => {
    if (used >= draws.length) throw new Error('used more draws than there are')
    used += 1
    return draws[used - 1]
  }
  const drawn = drawCandidates(space, { uniform })
  return {
    candidates: drawn.graphs.map(unitsOf),
    shapes: drawn.shapes,
    draws_used: used,
    left_out: drawn.leftOut,
  }
}

/** The graphs of a case by key; the keys must match ours. */
function placesOf(graphs: Golden): (key: string) => number {
  const places = new Map<string, number>(graphs.map(({ key }: Golden, place: number) => [key, place]))
  return (key) => places.get(key) ?? -1
}

export async function refinementOf({ graphs, pool: known, candidates }: Golden): Promise<Computed> {
  const placeOf = placesOf(graphs)
  const pool: GraphPool = new Map(
    known.map((place: number) => {
      const { key, units, score } = graphs[place]
      return [key, { key, graph: graphOf(units), score }]
    }),
  )
  const score = async (graph: AgentGraph) => graphs[placeOf(graphKey(graph))].score
  const { best, deletions, asked } = await searchQuestion(pool, candidates.map(graphOf), score)
  const demonstrations = demonstrationsOf(pool)
  const place = ({ key }: { key: string }) => placeOf(key)
  return {
    best: best === undefined ? null : place(best),
    deletions: deletions.map(({ removed, graph }) => ({
      removed,
      graph: placeOf(graphKey(graph)),
      units: unitsOf(graph),
    })),
    asked: asked.map(place),
    pool: [...pool.values()].map(place).sort((a, b) => a - b),
    demonstrations: demonstrations.map(place),
    tied: tiedForBest(demonstrations).length,
    by_stage: [1, 2, 3, 4, 5, 6].map((stage) => {
      const chosen = demonstrationAt(pool, stage)
      return chosen === undefined ? null : place(chosen)
    }),
  }
}

export async function routeOf({ questions, graphs, ledger, stages, batches }: Golden): Promise<Computed> {
  const placeOf = placesOf(graphs)
  const paidFor = new Set((ledger ?? []).map(String))
  let paid: number[] = []
  const route = new SearchRoute({
    questions: questions.length,
    stages,
    candidates: (_, batch) => batches[batch]?.map(graphOf),
    async score(graph, question) {
      const place = placeOf(graphKey(graph))
      if (!paidFor.has(String([question, place]))) paid.push(place)
      paidFor.add(String([question, place]))
      return questions[question].scores[place]
    },
    cost: () => paid.reduce((sum, place) => sum + graphs[place].cost, 0),
  })
  const made: unknown[] = []
  const reached: Golden[] = []
  for (let next = await route.next(); next !== undefined; next = await route.next()) {
    const { question, best, asked, cost } = next.batch
    const places = asked.map(({ key }) => placeOf(key))
    made.push({ question, best: best ? placeOf(best.key) : null, asked: places, paid, cost })
    paid = []
    for (const { stage, batches, spent, overshoot, epoch } of next.stages) {
      const taught = epoch.map(({ question, graph }) => ({
        question,
        graph: placeOf(graph.key),
        units: unitsOf(graph.graph),
      }))
      reached.push({ stage, batches, spent, overshoot, epoch: taught })
    }
  }
  return {
    batches: made,
    stages: reached,
    end: route.account.end ?? 'exhausted',
    search_batches: made.length,
    sft_updates: reached.reduce((sum, { epoch }) => sum + epoch.length, 0),
  }
}
