import { z } from 'zod'
import { validated } from '../problem.ts'

const number = z.number()
const notNegative = number.min(0)
const fraction = notNegative.max(1)

/**
 * The paper's reward parameters, with range, default (the paper's value) and meaning. With alpha, beta and gammaR at
 * zero, only the final reward is left.
 */
export const rewardSettingsSchema = z.strictObject({
  alpha: number.default(1).describe('α: weight of the utility gain on the probes in the potential.'),
  beta: number
    .default(0.02)
    .describe('β: weight of added structural complexity, subtracted from the potential.'),
  gammaR: number.default(0.05).describe('γ_R: weight of repeated roles, subtracted from the potential.'),
  eta: fraction.default(1).describe('η: discount per action, shared by shaping and returns.'),
  kappa: notNegative
    .default(1)
    .describe('κ: smoothing of the utility, as if this many more probes scored u0 with every graph.'),
  u0: fraction.default(0.5).describe('u_0: the score of those smoothing probes; it cancels in every gain.'),
  nodeWeight: notNegative.default(1).describe('w_n: complexity of an expanded node above the allowance.'),
  edgeWeight: notNegative.default(1).describe('w_e: complexity of an expanded edge above the allowance.'),
  nodeAllowance: notNegative.default(6).describe('b_n: expanded nodes that cost no complexity.'),
  edgeAllowance: notNegative.default(6).describe('b_e: expanded edges that cost no complexity.'),
  epsilon: notNegative
    .default(1e-8)
    .describe('ε: added to the deviation of returns when they become advantages.'),
  callPenalty: notNegative
    .default(0)
    .describe('Subtracted from the terminal reward for each model call of the final graph on the query.'),
  tokenPenalty: notNegative
    .default(0)
    .describe('Subtracted from the terminal reward for each token the final graph uses on the query.'),
})

export type RewardSettings = Readonly<z.output<typeof rewardSettingsSchema>>

/** Validated settings: the given ones, and the paper's values for the rest. */
export function rewardSettings(given: z.input<typeof rewardSettingsSchema> = {}): RewardSettings {
  return Object.freeze(validated(rewardSettingsSchema, given, 'reward'))
}
