import { z } from 'zod'
import { AgentGraph, InvalidGraphError } from '../../src/graph/agent-graph.ts'
import { IllegalActionError } from '../../src/graph/legality.ts'
import { UnknownRoleError } from '../../src/library/role-space.ts'
import type { CaseResult } from '../case.ts'
import { count, goldenAction, goldenDropout, goldenRestriction, goldenUnits, numbers } from './golden.ts'
import type { Evaluation, OpenPolicy, PolicyImplementation } from './implementation.ts'
import { askEach, openAll } from './opened.ts'
import { outcome } from './outcome.ts'
import { type GoldenSetup, readSetup } from './setup.ts'
import { Comparison, norm, type Tolerance } from './tolerance.ts'

const logits = z.array(z.number().nullable())
const mask = z.array(z.boolean())
/** A whole vector, or its beginning and its length. */
const goldenVector = z.union([numbers, z.strictObject({ first: numbers, norm: z.number() })])

const goldenState = z.object({
  query: count,
  restriction: goldenRestriction,
  temperature: z.number(),
  units: goldenUnits,
  dropout_keep: goldenDropout,
  // Strict, so that no value goes uncompared.
  expected: z.strictObject({
    exit_depths: numbers,
    context: goldenVector,
    node_states: z.array(goldenVector),
    role_logits: logits,
    role_mask: mask,
    granularity_logits: z.array(logits),
    granularity_mask: z.array(mask),
    edge_logits: z.array(z.array(logits)),
    edge_mask: z.array(z.array(mask)),
    actions: z.array(z.strictObject({ action: goldenAction, logprob: z.number() })),
    illegal_actions: z.array(goldenAction),
    entropy: z.number(),
    kl: z.number(),
  }),
})
const invalidGraph = z.object({ units: goldenUnits })

const stateFile = z.object({
  states: z.array(z.unknown()).default([]),
  invalid_graphs: z.array(z.unknown()).default([]),
})

/** Logits in the hundreds mean a file about saturation; all others stay far below. */
const saturatedFrom = 100

/** Checks every state and every illegal graph of a file like `tiny.json` with each implementation. */
export async function* stateCases(
  content: object,
  file: string,
  folder: string,
  implementations: readonly PolicyImplementation[],
): AsyncGenerator<CaseResult> {
  const { states, invalid_graphs } = stateFile.parse(content)
  const setup = readSetup(content, folder)
  const opened = await openAll(implementations, setup)
  const saturated = file.includes('saturated') || largestLogit(states) >= saturatedFrom
  for (const [index, state] of states.entries()) {
    yield outcome(`${file} ${nameOf(state, 'name') ?? `state ${index}`}`, () => {
      const golden = goldenState.parse(state)
      return askEach(opened, (policy, allowed) =>
        checkState(policy, golden, setup, saturated ? allowed.saturated : allowed.values),
      )
    })
  }
  for (const [index, invalid] of invalid_graphs.entries()) {
    yield outcome(`${file} invalid graph: ${nameOf(invalid, 'why') ?? index}`, () => {
      const { units } = invalidGraph.parse(invalid)
      return askEach(opened, (policy) =>
        isRefused(() => evaluate(policy, setup, { units }).entropy) ? [] : ['the graph was not refused'],
      )
    })
  }
}

function checkState(
  policy: OpenPolicy,
  state: z.output<typeof goldenState>,
  setup: GoldenSetup,
  tolerance: Tolerance,
): string[] {
  const { expected } = state
  const got = evaluate(policy, setup, state)
  const comparison = new Comparison()
  comparison.exact('exit_depths', AgentGraph.of(state.units).exitDepths, expected.exit_depths)
  compareVector(comparison, 'context', got.context, expected.context, tolerance)
  if (got.nodeStates.length !== expected.node_states.length) {
    comparison.differences.push(`there are ${got.nodeStates.length} node_states`)
  }
  for (const [unit, vector] of expected.node_states.entries()) {
    compareVector(comparison, `node_states[${unit}]`, got.nodeStates[unit] ?? [], vector, tolerance)
  }
  comparison.exact('role_mask', got.masks.roles, expected.role_mask.map(Number))
  comparison.exact('granularity_mask', got.masks.realizations, expected.granularity_mask.flat().map(Number))
  comparison.exact('edge_mask', got.masks.edges, expected.edge_mask.flat(2).map(Number))
  comparison.list('role_logits', got.roleLogits, expected.role_logits, tolerance)
  comparison.list('granularity_logits', got.granularityLogits, expected.granularity_logits.flat(), tolerance)
  comparison.list('edge_logits', got.edgeLogits, expected.edge_logits.flat(2), tolerance)
  for (const [index, { action, logprob }] of expected.actions.entries()) {
    comparison.number(`logprob of action ${index}`, got.logProbability(action), logprob, tolerance)
  }
  for (const [index, action] of expected.illegal_actions.entries()) {
    if (isRefused(() => got.logProbability(action))) continue
    comparison.differences.push(`illegal action ${index} has a probability`)
  }
  comparison.number('entropy', got.entropy, expected.entropy, tolerance)
  comparison.number('kl', got.divergence, expected.kl, tolerance)
  return comparison.differences
}

/** An illegal graph comes without a query, so it uses the first one, in evaluation mode. */
function evaluate(
  policy: OpenPolicy,
  setup: GoldenSetup,
  state: Pick<z.output<typeof goldenState>, 'units'> & Partial<z.output<typeof goldenState>>,
): Evaluation {
  const query = setup.queries[state.query ?? 0]
  if (query === undefined) throw new RangeError(`there is no query ${state.query ?? 0}`)
  return policy.evaluate({
    query,
    graph: AgentGraph.of(state.units),
    restriction: state.restriction ?? 'mixed',
    temperature: state.temperature ?? 1,
    dropoutKeep: state.dropout_keep ?? null,
  })
}

/** Minus infinity is a rejection, and so is an error about a graph or an action; any other error is our bug. */
function isRefused(attempt: () => number): boolean {
  try {
    return attempt() === Number.NEGATIVE_INFINITY
  } catch (error) {
    if (error instanceof InvalidGraphError || error instanceof IllegalActionError) return true
    if (error instanceof UnknownRoleError) return true
    throw error
  }
}

function compareVector(
  comparison: Comparison,
  what: string,
  got: ArrayLike<number>,
  expected: z.output<typeof goldenVector>,
  tolerance: Tolerance,
): void {
  if (Array.isArray(expected)) {
    comparison.list(what, got, expected, tolerance)
  } else {
    const beginning = Array.from(got).slice(0, expected.first.length)
    comparison.list(what, beginning, expected.first, tolerance)
    comparison.number(`norm of ${what}`, norm(got), expected.norm, tolerance)
  }
}

function largestLogit(states: readonly unknown[]): number {
  let largest = 0
  for (const state of states) {
    const parsed = goldenState.safeParse(state)
    if (!parsed.success) continue
    const { role_logits, granularity_logits, edge_logits } = parsed.data.expected
    for (const logit of [...role_logits, ...granularity_logits.flat(), ...edge_logits.flat(2)]) {
      largest = Math.max(largest, Math.abs(logit ?? 0))
    }
  }
  return largest
}

function nameOf(golden: unknown, field: 'name' | 'why'): string | undefined {
  const own = z.object({ [field]: z.string() }).safeParse(golden)
  return own.success ? own.data[field] : undefined
}
