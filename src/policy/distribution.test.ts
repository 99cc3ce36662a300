import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryConstruction } from '../../test/arbitrary-graph.ts'
import { legalActions } from '../../test/tiny-policy.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { type Action, type ConstructionSpace, legalityMasks, whyIllegal } from '../graph/legality.ts'
import { addPositionGradient } from '../learning/loss.ts'
import { defineRoleSpace } from '../library/role-space.ts'
import { deriveRandom } from '../numerics/random.ts'
import { ActionDistribution, emptyLogits, type Logits } from './distribution.ts'
import { entropy, klDivergence } from './kl-and-entropy.ts'

interface Place {
  readonly space: ConstructionSpace
  readonly graph: AgentGraph
}

/** Logits for a place, including masked branches, which nothing may read. */
function drawLogits({ space, graph }: Place, seed: number, spread = 1): Logits {
  const random = deriveRandom(seed, 'logits')
  const logits = emptyLogits(space.roles.roles.length, graph.size)
  for (const level of Object.values(logits) as Float64Array[])
    for (const index of level.keys()) level[index] = spread * random.normal()
  return logits
}

function distributionAt(place: Place, logits: Logits, temperature = 1): ActionDistribution {
  return new ActionDistribution(
    place.space.roles,
    legalityMasks(place.graph, place.space),
    logits,
    temperature,
  )
}

const arbitraryTemperature = fc.double({ min: 0.3, max: 3, noNaN: true })
const arbitrarySeed = fc.integer({ min: 0, max: 1e6 })

const place: Place = {
  space: {
    roles: defineRoleSpace(
      [
        { id: 'both', atomic: true, group: true },
        { id: 'alone', atomic: true, group: false },
        { id: 'grouped', atomic: false, group: true },
      ],
      (from, to) => from !== 2 || to !== 1,
    ),
    maxUnits: 4,
    maxDepth: 4,
    restriction: 'mixed',
  },
  graph: AgentGraph.of([
    { role: 'both', realization: 'group', predecessors: [] },
    { role: 'grouped', realization: 'group', predecessors: [] },
    { role: 'alone', realization: 'atomic', predecessors: [0] },
  ]),
}

test('it is a distribution over whole actions, with the right entropy and divergence', () => {
  fc.assert(
    fc.property(arbitraryConstruction, arbitraryTemperature, arbitrarySeed, (place, temperature, seed) => {
      const own = distributionAt(place, drawLogits(place, seed), temperature)
      const other = distributionAt(place, drawLogits(place, seed + 1), temperature)
      const actions = legalActions(place.graph, place.space)
      const mean = (of: (action: Action) => number) =>
        actions.reduce((sum, action) => sum + Math.exp(own.logProbability(action)) * of(action), 0)
      expect(mean(() => 1)).toBeCloseTo(1, 12)
      expect(entropy(own)).toBeCloseTo(
        mean((action) => -own.logProbability(action)),
        10,
      )
      expect(klDivergence(own, other)).toBeCloseTo(
        mean((action) => own.logProbability(action) - other.logProbability(action)),
        10,
      )
      expect(klDivergence(own, own)).toBe(0)
    }),
  )
})

test('the parts multiply to the whole, in any order of asking', () => {
  const logits = drawLogits(place, 4)
  const own = distributionAt(place, logits, 1.7)
  for (const action of legalActions(place.graph, place.space)) {
    const fresh = distributionAt(place, logits, 1.7)
    if (action.type === 'stop') {
      expect(Math.log(fresh.stopProbability)).toBeCloseTo(own.logProbability(action), 12)
      continue
    }
    const role = place.space.roles.indexOf(action.role)
    const branch = role * 2 + (action.realization === 'atomic' ? 0 : 1)
    let product = 1
    for (const unit of place.graph.units.keys()) {
      const edge = fresh.edgeProbability(branch, unit)
      product *= action.predecessors.includes(unit) ? edge : 1 - edge
    }
    product *= fresh.realizationProbability(branch) * fresh.roleProbability(role)
    expect(Math.log(product)).toBeCloseTo(own.logProbability(action), 12)
  }
})

test('masked branches have probability 0 and are never read', () => {
  const masks = legalityMasks(place.graph, place.space)
  const logits = drawLogits(place, 4)
  const poisoned: Logits = {
    roles: logits.roles.map((logit, index) => (masks.roles[index] ? logit : Number.NaN)),
    realizations: logits.realizations.map((logit, index) => (masks.realizations[index] ? logit : Number.NaN)),
    edges: logits.edges.map((logit, index) => (masks.edges[index] ? logit : Number.NaN)),
  }
  const [clean, dirty] = [distributionAt(place, logits), distributionAt(place, poisoned)]
  expect(entropy(dirty)).toBe(entropy(clean))
  expect(klDivergence(dirty, clean)).toBe(0)
  expect(dirty.realizationProbability(3)).toBe(0)
  expect(dirty.realizationProbability(4)).toBe(0)
  for (const [edge, legal] of masks.edges.entries()) {
    const probability = dirty.edgeProbability(Math.floor(edge / 3), edge % 3)
    if (legal) expect(probability).toBeGreaterThan(0)
    else expect(probability).toBe(0)
  }
  const into = emptyLogits(3, 3)
  const position = { policy: dirty, reference: clean, advantage: 1, action: { type: 'stop' } } as const
  addPositionGradient(position, { divergence: 1, entropy: 1 }, 1, into)
  for (const level of ['roles', 'realizations', 'edges'] as const) {
    for (const [index, gradient] of into[level].entries()) {
      expect(Number.isFinite(gradient)).toBe(true)
      if (!masks[level][index]) expect(gradient).toBe(0)
    }
  }
})

test('the gradient agrees with finite differences', () => {
  fc.assert(
    fc.property(
      arbitraryConstruction,
      arbitraryTemperature,
      arbitrarySeed,
      fc.nat(),
      fc.double({ min: -2, max: 2, noNaN: true }),
      fc.record({ divergence: fc.constantFrom(0, 0.01, 1), entropy: fc.constantFrom(0, 0.001, 1) }),
      (place, temperature, seed, choice, advantage, weights) => {
        const logits = drawLogits(place, seed)
        const actions = legalActions(place.graph, place.space)
        const action = actions[choice % actions.length]!
        const reference = distributionAt(place, drawLogits(place, seed + 1), temperature)
        // −A log π + β_KL KL − β_H H, from the definitions.
        const lossOf = (own: ActionDistribution) =>
          -advantage * own.logProbability(action) +
          weights.divergence * klDivergence(own, reference) -
          weights.entropy * entropy(own)
        const scale = 0.25
        // Gradients are added to the existing ones.
        const gradient = emptyLogits(place.space.roles.roles.length, place.graph.size)
        for (const level of Object.values(gradient) as Float64Array[]) level.fill(10)
        const policy = distributionAt(place, logits, temperature)
        addPositionGradient({ policy, reference, action, advantage }, weights, scale, gradient)
        for (const level of ['roles', 'realizations', 'edges'] as const) {
          for (const index of logits[level].keys()) {
            const at = (shift: number) => {
              const moved = { ...logits, [level]: logits[level].slice() }
              moved[level][index]! += shift
              return lossOf(distributionAt(place, moved, temperature))
            }
            const numeric = (scale * (at(1e-5) - at(-1e-5))) / 2e-5
            const difference = Math.abs(gradient[level][index]! - 10 - numeric)
            if (!(difference < 1e-7 * (1 + Math.abs(numeric))))
              expect(gradient[level][index]! - 10, `${level}[${index}]`).toBe(numeric)
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})

describe('sampling', () => {
  test('frequencies match the probabilities', () => {
    const own = distributionAt(place, drawLogits(place, 11), 1.5)
    const actions = legalActions(place.graph, place.space)
    const keys = new Map(actions.map((action, index) => [JSON.stringify(action), index]))
    const counts = new Array<number>(actions.length).fill(0)
    const random = deriveRandom(5, 'frequencies')
    const draws = 40_000
    for (let drawn = 0; drawn < draws; drawn += 1) counts[keys.get(JSON.stringify(own.sample(random)))!]! += 1
    expect(counts.reduce((sum, count) => sum + count)).toBe(draws)
    let square = 0
    let degrees = -1
    for (const [index, action] of actions.entries()) {
      const expected = draws * Math.exp(own.logProbability(action))
      if (expected < 5) continue
      square += (counts[index]! - expected) ** 2 / expected
      degrees += 1
    }
    expect(degrees).toBeGreaterThanOrEqual(20)
    // χ² has mean `degrees` and deviation √(2·degrees); the seed is fixed.
    expect(Math.abs(square - degrees)).toBeLessThan(4 * Math.sqrt(2 * degrees))
  })

  test('only legal actions are drawn', () => {
    fc.assert(
      fc.property(
        arbitraryConstruction,
        arbitrarySeed,
        fc.constantFrom(1, 30, 500),
        (place, seed, spread) => {
          const own = distributionAt(place, drawLogits(place, seed, spread))
          const random = deriveRandom(seed, 'draws')
          for (let drawn = 0; drawn < 20; drawn += 1) {
            const action = own.sample(random)
            expect(whyIllegal(action, place.graph, place.space)).toBeUndefined()
            expect(own.logProbability(action)).toBeGreaterThan(Number.NEGATIVE_INFINITY)
          }
        },
      ),
    )
  })

  test('the ends of the uniform range draw legal actions too', () => {
    const own = distributionAt(place, drawLogits(place, 3))
    const masks = legalityMasks(place.graph, place.space)
    for (const end of [0, 1 - 2 ** -53]) {
      const constant = { uniform: () => end, normal: () => 0 }
      expect(whyIllegal(own.sample(constant), place.graph, place.space)).toBeUndefined()
      for (const role of [0, 1, 2])
        expect(masks.realizations[own.sampleBranch(role, constant)], `role ${role}`).toBe(1)
    }
  })

  test('one uniform draw per choice: role, realization, each legal predecessor', () => {
    const own = distributionAt(place, drawLogits(place, 3))
    const masks = legalityMasks(place.graph, place.space)
    for (let seed = 0; seed < 50; seed += 1) {
      const source = deriveRandom(seed, 'counted')
      let used = 0
      const counting = {
        uniform: () => {
          used += 1
          return source.uniform()
        },
        normal: () => Number.NaN,
      }
      const action = own.sample(counting)
      const branch =
        action.type === 'stop'
          ? undefined
          : place.space.roles.indexOf(action.role) * 2 + (action.realization === 'atomic' ? 0 : 1)
      const edges = branch === undefined ? [] : [...masks.edges.slice(branch * 3, branch * 3 + 3)]
      expect(used).toBe(branch === undefined ? 1 : 2 + edges.reduce((sum, legal) => sum + legal, 0))
    }
  })

  test('without random numbers each choice is the most probable', () => {
    fc.assert(
      fc.property(arbitraryConstruction, arbitrarySeed, (place, seed) => {
        const own = distributionAt(place, drawLogits(place, seed))
        const roles = place.space.roles.roles
        const action = own.sample()
        expect(whyIllegal(action, place.graph, place.space)).toBeUndefined()
        const chances = [...roles.keys()].map((role) => own.roleProbability(role))
        if (action.type === 'stop')
          return void expect(own.stopProbability).toBeGreaterThanOrEqual(Math.max(...chances))
        const role = place.space.roles.indexOf(action.role)
        expect(own.roleProbability(role)).toBe(Math.max(own.stopProbability, ...chances))
        const branch = role * 2 + (action.realization === 'atomic' ? 0 : 1)
        expect(own.realizationProbability(branch)).toBeGreaterThanOrEqual(0.5)
        for (let unit = 0; unit < place.graph.size; unit += 1)
          expect(action.predecessors.includes(unit)).toBe(own.edgeProbability(branch, unit) > 0.5)
      }),
    )
  })

  test('NaN logits are refused', () => {
    const logits = drawLogits(place, 3)
    logits.roles.fill(Number.NaN)
    expect(() => distributionAt(place, logits).sample(deriveRandom(1))).toThrow('not finite')
    expect(() => distributionAt(place, logits).sample()).toThrow('not finite')
  })
})

test('saturated logits stay finite, in value and gradient', () => {
  for (const spread of [50, 1e3, 1e6, 1e30]) {
    const [own, other] = [7, 8].map((seed) => distributionAt(place, drawLogits(place, seed, spread)))
    const values = [entropy(own!), klDivergence(own!, other!)]
    const into = emptyLogits(3, 3)
    for (const action of legalActions(place.graph, place.space)) {
      values.push(own!.logProbability(action))
      const position = { policy: own!, reference: other!, advantage: 1, action }
      addPositionGradient(position, { divergence: 0.01, entropy: 0.001 }, 1, into)
    }
    values.push(...into.roles, ...into.realizations, ...into.edges)
    expect(values.every(Number.isFinite), `spread ${spread}`).toBe(true)
    expect(entropy(own!) + 0).toBeGreaterThanOrEqual(0)
    expect(klDivergence(own!, other!)).toBeGreaterThanOrEqual(0)
  }
})

test('an illegal action has log-probability −∞', () => {
  const own = distributionAt(place, drawLogits(place, 2))
  const add = (role: string, realization: 'atomic' | 'group', predecessors: number[]) =>
    own.logProbability({ type: 'add', role, realization, predecessors })
  expect(add('both', 'atomic', [0])).toBeGreaterThan(Number.NEGATIVE_INFINITY)
  for (const impossible of [
    add('alone', 'group', []),
    add('grouped', 'atomic', []),
    // Unit 1 is a `grouped`, whose output does not fit `alone`; unit 2 is too deep for a group.
    add('alone', 'atomic', [1]),
    add('both', 'group', [2]),
    add('both', 'atomic', [3]),
    add('both', 'atomic', [-1]),
    add('both', 'atomic', [0, 0]),
    add('both', 'atomic', [0.5]),
  ]) {
    expect(impossible).toBe(Number.NEGATIVE_INFINITY)
  }
  // Not the neighbouring branch, as a negative index would give.
  expect(add('alone', 'neither' as 'atomic', [])).toBe(Number.NEGATIVE_INFINITY)
  expect(() => add('nobody', 'atomic', [])).toThrow("no role 'nobody'")
})

test('with all units placed, STOP has probability one', () => {
  const full = { ...place, space: { ...place.space, maxUnits: 3 } }
  const own = distributionAt(full, drawLogits(full, 2))
  expect(own.logProbability({ type: 'stop' })).toBe(0)
  expect(own.stopProbability).toBe(1)
  expect(entropy(own) + 0).toBe(0)
  expect(klDivergence(own, distributionAt(full, drawLogits(full, 3)))).toBe(0)
  expect(own.sample(deriveRandom(1))).toEqual({ type: 'stop' })
  const action = { type: 'add', role: 'both', realization: 'atomic', predecessors: [] } as const
  expect(own.logProbability(action)).toBe(Number.NEGATIVE_INFINITY)
})

test('a temperature of zero or below is refused', () => {
  for (const temperature of [0, -1, Number.NaN])
    expect(() => distributionAt(place, drawLogits(place, 1), temperature)).toThrow('must be above 0')
})
