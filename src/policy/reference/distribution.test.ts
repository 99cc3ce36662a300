import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  arbitrarySituation,
  legalActions,
  numbersLike,
  type Situation,
  tinyParameters,
} from '../../../test/tiny-policy.ts'
import { PlainDistribution } from './distribution.ts'
import { PlainNetwork } from './network.ts'

const query = numbersLike(3, 9, 1)

function distribution({ options, graph, space }: Situation, seed: number, temperature: number, spread = 1) {
  const network = new PlainNetwork(tinyParameters(options, seed, spread), options, true)
  const decision = network.decide({ query, graph, restriction: space.restriction, dropoutKeep: null })
  return new PlainDistribution(decision, temperature)
}

function logProbabilities(policy: PlainDistribution, { graph, space }: Situation): number[] {
  return legalActions(graph, space).map((action) => policy.logProbability(action).number)
}

const expectation = (logs: number[], of: (log: number, index: number) => number) =>
  logs.reduce((sum, log, index) => sum + Math.exp(log) * of(log, index), 0)

test('probabilities of all legal actions sum to one', () => {
  fc.assert(
    fc.property(
      arbitrarySituation,
      fc.double({ min: 0.3, max: 3, noNaN: true }),
      (situation, temperature) => {
        const logs = logProbabilities(distribution(situation, situation.seed, temperature), situation)
        expect(expectation(logs, () => 1)).toBeCloseTo(1, 12)
      },
    ),
  )
})

test('entropy and divergence are those of the joint distribution over whole actions', () => {
  fc.assert(
    fc.property(
      arbitrarySituation,
      fc.double({ min: 0.3, max: 3, noNaN: true }),
      (situation, temperature) => {
        const policy = distribution(situation, situation.seed, temperature)
        const reference = distribution(situation, situation.seed + 1, temperature)
        const logs = logProbabilities(policy, situation)
        const others = logProbabilities(reference, situation)
        expect(policy.entropy().number).toBeCloseTo(-expectation(logs, (log) => log), 10)
        expect(policy.divergence(reference).number).toBeCloseTo(
          expectation(logs, (log, index) => log - others[index]!),
          9,
        )
        expect(policy.divergence(policy).number).toBe(0)
      },
    ),
  )
})

test('with all units placed, only STOP is left, without entropy or divergence', () => {
  const full = arbitrarySituation.filter(({ graph, space }) => graph.size === space.maxUnits)
  fc.assert(
    fc.property(full, (situation) => {
      const policy = distribution(situation, situation.seed, 1)
      expect(policy.logProbability({ type: 'stop' }).number).toBe(0)
      expect(Math.abs(policy.entropy().number)).toBe(0)
      expect(policy.divergence(distribution(situation, situation.seed + 1, 1)).number).toBe(0)
    }),
  )
})

test('saturated logits stay finite', () => {
  fc.assert(
    fc.property(arbitrarySituation, (situation) => {
      const policy = distribution(situation, situation.seed, 1, 60)
      const reference = distribution(situation, situation.seed + 1, 1, 60)
      expect(logProbabilities(policy, situation).every(Number.isFinite)).toBe(true)
      expect(Number.isFinite(policy.entropy().number)).toBe(true)
      expect(Number.isFinite(policy.divergence(reference).number)).toBe(true)
    }),
  )
})

test('an illegal action has no probability', () => {
  fc.assert(
    fc.property(arbitrarySituation, (situation) => {
      const policy = distribution(situation, situation.seed, 1)
      const { graph, space } = situation
      const role = space.roles.roles[0]!.id
      for (const predecessors of [[graph.size], [-1], [0, 0]]) {
        const action = { type: 'add', role, realization: 'atomic', predecessors } as const
        expect(() => policy.logProbability(action)).toThrow('Not a legal construction')
      }
    }),
  )
})

test('a temperature of zero or below is refused', () => {
  const [situation] = fc.sample(arbitrarySituation, 1)
  for (const temperature of [0, -1, Number.NaN]) {
    expect(() => distribution(situation!, 1, temperature)).toThrow('temperature')
  }
})
