import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { expand, expandedCounts } from '../../src/graph/expansion.ts'
import type { Action } from '../../src/graph/legality.ts'
import { positionAligned } from '../../src/learning/advantages.ts'
import { returnsToGo } from '../../src/learning/returns.ts'
import { roleRepetition, structuralComplexity } from '../../src/learning/structural-terms.ts'
import { creditTrajectory, type Trajectory } from '../../src/learning/trajectory.ts'
import { rewardSettings } from '../../src/settings/rewards.ts'
import type { CaseResult } from '../case.ts'
import { goldenReward } from './golden-reward.ts'

const numbers = z.array(z.number())
const units = z.array(
  z.object({
    role: z.union([z.string(), z.number()]).transform(String),
    realization: z.enum(['atomic', 'group']),
    predecessors: numbers,
  }),
)
const steps = z.array(z.object({ units: units.min(1), parent_scores: numbers, child_scores: numbers }))
const goldenTrajectory = z.object({ steps, terminal_score: z.number(), forced_stop: z.boolean() })

// Expected objects are strict, so that no value goes uncompared.
const expectedStep = z.strictObject({
  delta_u: z.number(),
  c: z.number(),
  d: z.number(),
  delta_c: z.number(),
  delta_d: z.number(),
  d_t: z.number(),
  phi: z.number(),
  reward: z.number(),
})
const expectedTrajectory = z.strictObject({
  steps: z.array(expectedStep),
  terminal_reward: z.number(),
  terminal_shaping_reward: z.number(),
  returns: numbers,
})
const learningCase = z.object({
  reward: goldenReward,
  trajectories: z.array(goldenTrajectory),
  expected: z.strictObject({ trajectories: z.array(expectedTrajectory), advantages: z.array(numbers) }),
})
const expansionCase = z.object({
  units,
  expected: z.strictObject({
    nodes: z.number(),
    edges: z.number(),
    depth: z.number(),
    exit_depths: numbers,
    sink_units: numbers,
    c: z.number(),
    d: z.number(),
  }),
})

/** Rewards, returns, advantages and expansions of a file shaped like `learning.json`. */
export function* learningCases(file: unknown, name: string): Generator<CaseResult> {
  const { cases = [], expansions = [] } = z
    .object({ cases: z.array(z.unknown()).optional(), expansions: z.array(z.unknown()).optional() })
    .catch({})
    .parse(file)
  if (cases.length + expansions.length === 0) {
    yield { name, failure: 'it has neither cases nor expansions' }
  }
  for (const [index, golden] of cases.entries()) {
    const own = z.object({ name: z.string() }).safeParse(golden)
    yield outcome(`${name} ${own.success ? own.data.name : `case ${index}`}`, () => checkLearning(golden))
  }
  for (const [index, golden] of expansions.entries()) {
    yield outcome(`${name} expansion ${index}`, () => checkExpansion(golden))
  }
}

/** Differences are a failure, and so is an exception: a case that cannot be read or computed has not passed. */
function outcome(name: string, check: () => string[]): CaseResult {
  try {
    const differences = check()
    return differences.length === 0 ? { name } : { name, failure: differences.join('; ') }
  } catch (error) {
    if (!(error instanceof z.ZodError)) return { name, failure: String(error) }
    const problems = error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim())
    return { name, failure: `malformed: ${problems.join('; ')}` }
  }
}

function checkLearning(golden: unknown): string[] {
  const { reward, trajectories, expected } = learningCase.parse(golden)
  const credited = trajectories.map((trajectory) => creditTrajectory(scoredConstruction(trajectory), reward))
  const returns = credited.map(returnsToGo)
  const got = {
    trajectories: credited.map((trajectory, k) => ({
      steps: trajectory.transitions.map(goldenStep),
      terminal_reward: trajectory.terminal_reward,
      terminal_shaping_reward: trajectory.terminal_shaping_reward,
      returns: returns[k]!,
    })),
    advantages: positionAligned(returns, reward.epsilon),
  }
  const differences = [...compare(got, expected, '')]
  for (const [k, { steps }] of trajectories.entries()) {
    for (const [t, step] of steps.entries()) {
      // Only a step's last unit is its action; the resulting graph must be the recorded one.
      const graph = AgentGraph.of(step.units)
      if (!isDeepStrictEqual(credited[k]!.transitions[t]!.graph.units, graph.units)) {
        differences.push(`trajectories[${k}].steps[${t}].units do not extend the step before`)
      }
    }
  }
  return differences
}

function scoredConstruction({ steps, terminal_score, forced_stop }: z.output<typeof goldenTrajectory>) {
  const additions = steps.map(({ units }): Action => ({ type: 'add', ...units.at(-1)! }))
  return {
    query: 'query',
    probes: (steps[0]?.parent_scores ?? []).map((_, probe) => `${probe}`),
    actions: [...additions, { type: 'stop' } as const],
    forcedStop: forced_stop,
    transitions: steps.map((step) => ({ parentScores: step.parent_scores, childScores: step.child_scores })),
    terminalScore: terminal_score,
  }
}

function goldenStep(transition: Trajectory['transitions'][number]): z.output<typeof expectedStep> {
  return {
    delta_u: transition.utilityGain,
    c: transition.complexity,
    d: transition.repetition,
    delta_c: transition.addedComplexity,
    delta_d: transition.addedRepetition,
    d_t: transition.increment,
    phi: transition.potential,
    reward: transition.reward,
  }
}

function checkExpansion(golden: unknown): string[] {
  const { units, expected } = expansionCase.parse(golden)
  const graph = AgentGraph.of(units)
  const expanded = expand(graph)
  const got = {
    nodes: expanded.nodes.length,
    edges: expanded.nodes.reduce((edges, node) => edges + node.predecessors.length, 0),
    depth: graph.depth,
    exit_depths: graph.exitDepths,
    sink_units: expanded.sinks.map((sink) => expanded.nodes[sink]!.unit),
    c: structuralComplexity(graph, rewardSettings()),
    d: roleRepetition(graph),
  }
  const differences = [...compare(got, expected, '')]
  const { nodes, edges } = expandedCounts(graph)
  if (nodes !== got.nodes || edges !== got.edges) {
    differences.push(`counted without expanding: ${nodes} nodes, ${edges} edges`)
  }
  return differences
}

const exact = new Set(['nodes', 'edges', 'depth', 'exit_depths', 'sink_units', 'd'])

/** |got − expected| ≤ abs + rel·|expected|, with the golden files' tolerances. */
function agrees(field: string, got: number, expected: number): boolean {
  if (exact.has(field)) return got === expected
  if (field === 'advantages') return Math.abs(got - expected) <= 1e-6
  return Math.abs(got - expected) <= 1e-8 + 1e-8 * Math.abs(expected)
}

/** Walks through the expected value. `field` is the innermost name; list items keep the list's name. */
function* compare(got: unknown, expected: unknown, path: string, field = ''): Generator<string> {
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) {
      yield `${path} is ${JSON.stringify(got)}, expected ${expected.length} entries`
      return
    }
    for (const [index, entry] of expected.entries()) {
      yield* compare(got[index], entry, `${path}[${index}]`, field)
    }
  } else if (typeof expected === 'object' && expected !== null) {
    for (const [key, entry] of Object.entries(expected)) {
      yield* compare((got as Record<string, unknown>)[key], entry, path === '' ? key : `${path}.${key}`, key)
    }
  } else if (typeof got !== 'number' || !agrees(field, got, expected as number)) {
    yield `${path} is ${got}, expected ${expected}`
  }
}
