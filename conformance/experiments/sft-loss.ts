import { z } from 'zod'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import type { RecordedGroup } from '../../src/learning/loss.ts'
import { demonstrationGroup, imitationWeights } from '../../src/learning/search/demonstration.ts'
import { realizations } from '../../src/library/role-space.ts'
import { ActionDistribution } from '../../src/policy/distribution.ts'
import type { CaseResult } from '../case.ts'
import { count, goldenDropout, goldenRestriction, goldenUnits } from '../policy/golden.ts'
import type { OpenPolicy } from '../policy/implementation.ts'
import { implementations } from '../policy/implementations.ts'
import { askEach, openAll } from '../policy/opened.ts'
import { outcome } from '../policy/outcome.ts'
import { readSetup } from '../policy/setup.ts'
import { Comparison, norm, type Tolerances } from '../policy/tolerance.ts'
import { compareWeights, expectedWeights, goldenAdam, hasWeights } from '../policy/updates.ts'

const goldenUpdate = z.object({
  query: count,
  restriction: goldenRestriction,
  units: goldenUnits,
  dropout_keep: z.array(goldenDropout),
  // Strict, so that no value goes uncompared.
  expected: z
    .strictObject({
      positions: z.array(z.strictObject({ role: z.number(), granularity: z.number(), edges: z.number() })),
      loss: z.number(),
      gradient_norm: z.number(),
      ...expectedWeights,
    })
    .refine(hasWeights, 'has neither gradients and weights_after nor tensors'),
})

type Golden = z.output<typeof goldenUpdate>

const file = z.object({
  hyper: goldenAdam,
  sequences: z.array(z.object({ name: z.string(), updates: z.array(z.unknown()) })),
})

/** Checks the supervised updates of Search-then-SFT with each implementation of the policy. */
export async function* imitationCases(
  content: object,
  name: string,
  folder: string,
): AsyncGenerator<CaseResult> {
  const { hyper: adam, sequences } = file.parse(content)
  const setup = readSetup(content, folder)
  for (const sequence of sequences) {
    const opened = await openAll(implementations, setup)
    for (const [index, golden] of sequence.updates.entries())
      yield outcome(`${name} ${sequence.name} update ${index}`, () => {
        const update = goldenUpdate.parse(golden)
        const { query, restriction, units, dropout_keep } = update
        const vector = setup.queries[query]
        if (vector === undefined) throw new RangeError(`there is no query ${query}`)
        const group = demonstrationGroup(
          vector,
          AgentGraph.of(units),
          (position) => dropout_keep[position]!,
          restriction,
        )
        return askEach(opened, (policy, allowed) => {
          const parts = group.trajectories[0]!.map((_, position) =>
            partsOf(policy, setup.roles, group, position),
          )
          const updated = policy.update(group, { loss: imitationWeights, adam })
          return compare(parts, updated, update.expected, allowed)
        })
      })
  }
}

/** The three parts of a decision's negative log-likelihood. */
function partsOf(
  policy: OpenPolicy,
  roles: ConstructorParameters<typeof ActionDistribution>[0],
  { query, restriction, temperature, trajectories }: RecordedGroup,
  position: number,
) {
  const { graph, action, dropoutKeep } = trajectories[0]![position]!
  const { masks, roleLogits, granularityLogits, edgeLogits } = policy.evaluate({
    query: Float64Array.from(query),
    graph,
    restriction,
    temperature,
    dropoutKeep,
  })
  const logits = {
    roles: Float64Array.from(roleLogits),
    realizations: Float64Array.from(granularityLogits),
    edges: Float64Array.from(edgeLogits),
  }
  const at = new ActionDistribution(roles, masks, logits, temperature)
  if (action.type === 'stop') return { role: -Math.log(at.stopProbability), granularity: 0, edges: 0 }
  const role = roles.indexOf(action.role)
  const branch = role * 2 + realizations.indexOf(action.realization)
  const parts = {
    role: -Math.log(at.roleProbability(role)),
    granularity: -Math.log(at.realizationProbability(branch)),
  }
  return { ...parts, edges: -at.logProbability(action) - parts.role - parts.granularity }
}

function compare(
  parts: readonly { role: number; granularity: number; edges: number }[],
  updated: ReturnType<OpenPolicy['update']>,
  expected: Golden['expected'],
  tolerance: Tolerances,
): string[] {
  const comparison = new Comparison()
  for (const part of ['role', 'granularity', 'edges'] as const)
    comparison.list(
      part,
      parts.map((one) => one[part]),
      expected.positions.map((one) => one[part]),
      tolerance.values,
    )
  comparison.number('loss', updated.loss, expected.loss, tolerance.values)
  const all = [...updated.gradients.values()].map(norm)
  comparison.number('gradient_norm', norm(all), expected.gradient_norm, tolerance.gradients)
  compareWeights(comparison, updated, expected, tolerance)
  return comparison.differences
}
