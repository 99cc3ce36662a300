// Proposition 1 and its consequence for the return-to-go (appendix B), on random trajectories.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGraph } from '../../test/arbitrary-graph.ts'
import type { Action } from '../graph/legality.ts'
import { type RewardSettings, rewardSettings } from '../settings/rewards.ts'
import { returnsToGo } from './returns.ts'
import { creditTrajectory, type ScoredConstruction, type Trajectory } from './trajectory.ts'

const score = fc.double({ min: 0, max: 1, noNaN: true })
const weight = fc.double({ min: 0, max: 4, noNaN: true })

const settings = (fixed: Partial<RewardSettings> = {}): fc.Arbitrary<RewardSettings> =>
  fc
    .record({
      alpha: weight,
      beta: weight,
      gammaR: weight,
      eta: fc.oneof(fc.constantFrom(0, 1), score),
      kappa: weight,
      nodeWeight: weight,
      edgeWeight: weight,
      nodeAllowance: fc.nat(8),
      edgeAllowance: fc.nat(8),
    })
    .map((random) => rewardSettings({ ...random, ...fixed }))

/** Any graph of up to five units and up to four probes, with every prefix graph scored once per probe. */
const construction: fc.Arbitrary<ScoredConstruction> = fc
  .record({ graph: arbitraryGraph({ maxUnits: 5 }), probeCount: fc.nat(4) })
  .chain(({ graph, probeCount }) =>
    fc.record({
      units: fc.constant(graph.units),
      scores: fc.array(fc.array(score, { minLength: probeCount, maxLength: probeCount }), {
        minLength: graph.size + 1,
        maxLength: graph.size + 1,
      }),
      terminalScore: score,
      forcedStop: fc.boolean(),
    }),
  )
  .map(({ units, scores, terminalScore, forcedStop }) => ({
    query: 'query',
    probes: scores[0]!.map((_, probe) => `probe ${probe}`),
    actions: [...units.map((unit): Action => ({ type: 'add', ...unit })), { type: 'stop' }],
    forcedStop,
    transitions: units.map((_, t) => ({ parentScores: scores[t]!, childScores: scores[t + 1]! })),
    terminalScore,
  }))

/** U_P(G) = (κ u_0 + Σ_p S(G, p)) / (κ + |P|); without evidence it is the prior u_0. */
const probeUtility = (scores: readonly number[], { kappa, u0 }: RewardSettings) =>
  kappa + scores.length === 0
    ? u0
    : (kappa * u0 + scores.reduce((sum, value) => sum + value, 0)) / (kappa + scores.length)

/** r'_t of every action, and Φ_t before it. */
const rewardsOf = (trajectory: Trajectory) => [
  ...trajectory.transitions.map(({ reward }) => reward),
  trajectory.terminal_reward + trajectory.terminal_shaping_reward,
]
const potentialsOf = (trajectory: Trajectory) => [
  0,
  ...trajectory.transitions.map(({ potential }) => potential),
]

function property(chosen: fc.Arbitrary<RewardSettings>, check: (trajectory: Trajectory) => void): void {
  fc.assert(
    fc.property(construction, chosen, (scored, reward) => check(creditTrajectory(scored, reward))),
    { numRuns: 500 },
  )
}

describe('for any trajectory', () => {
  test('and any discount, Σ η^t r′_t = η^{T−1} S', () => {
    property(settings(), (trajectory) => {
      const { eta } = trajectory.settings
      const total = rewardsOf(trajectory).reduce((sum, reward, t) => sum + eta ** t * reward, 0)
      expect(total).toBeCloseTo(eta ** trajectory.transitions.length * trajectory.terminalScore, 9)
      expect(returnsToGo(trajectory)[0]).toBeCloseTo(total, 9)
    })
  })

  test('and any discount, G_t = η^{T−1−t} S − Φ_t', () => {
    property(settings(), (trajectory) => {
      const returns = returnsToGo(trajectory)
      const stop = trajectory.transitions.length
      expect(returns).toHaveLength(stop + 1)
      for (const [t, potential] of potentialsOf(trajectory).entries()) {
        const expected = trajectory.settings.eta ** (stop - t) * trajectory.terminalScore - potential
        expect(returns[t]).toBeCloseTo(expected, 9)
      }
    })
  })

  test('without discount, G_t = S − Φ_t and the rewards add up to S', () => {
    property(settings({ eta: 1 }), (trajectory) => {
      const total = rewardsOf(trajectory).reduce((sum, reward) => sum + reward, 0)
      expect(total).toBeCloseTo(trajectory.terminalScore, 9)
      const returns = returnsToGo(trajectory)
      for (const [t, potential] of potentialsOf(trajectory).entries()) {
        expect(returns[t]).toBeCloseTo(trajectory.terminalScore - potential, 9)
      }
    })
  })

  test('with zero weights only the final reward is left', () => {
    property(settings({ alpha: 0, beta: 0, gammaR: 0 }), (trajectory) => {
      const { eta } = trajectory.settings
      for (const { reward } of trajectory.transitions) expect(reward).toBeCloseTo(0, 14)
      const stop = trajectory.transitions.length
      for (const [t, value] of returnsToGo(trajectory).entries()) {
        expect(value).toBeCloseTo(eta ** (stop - t) * trajectory.terminalScore, 12)
      }
    })
  })

  test('the accumulated potential is that of its graph relative to the empty one', () => {
    property(settings(), ({ transitions, settings }) => {
      for (const { childScores, complexity, repetition, potential } of transitions) {
        const utility =
          probeUtility(childScores, settings) - probeUtility(transitions[0]!.parentScores, settings)
        const relative = settings.alpha * utility - settings.beta * complexity - settings.gammaR * repetition
        expect(potential).toBeCloseTo(relative, 9)
      }
    })
  })
})
