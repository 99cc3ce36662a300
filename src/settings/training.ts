import { z } from 'zod'
import { rewardSettingsSchema } from './rewards.ts'

const whole = (least: number, most: number, usual: number) => z.int().min(least).max(most).default(usual)
const above0 = z.number().positive()

/** How a policy is trained, each setting with the paper's value as its default. */
export const trainingSettings = z.strictObject({
  seed: z.int().nonnegative().default(42).describe('Seed of weights, draws and probes.'),
  passes: whole(1, 1000, 1).describe('Times that the training questions are gone through.'),
  updates: z.int().min(1).optional().describe('Stop after so many updates; all passes by default.'),
  trajectories: whole(2, 256, 2).describe('K: graphs built for each question of an update.'),
  probes: whole(0, 256, 4).describe('P: other training questions that partial graphs are run on.'),
  restriction: z
    .enum(['mixed', 'all-atomic', 'all-group'])
    .default('mixed')
    .describe('Which realizations units may have.'),
  finalRewardOnly: z.boolean().default(false).describe('Ablation: no dense rewards, no probes.'),
  initialisationOnly: z.boolean().default(false).describe('Ablation: the untrained policy is the result.'),
  temperatureStart: above0.default(1.2).describe('Temperature of the first update.'),
  temperatureEnd: above0.default(1).describe('Temperature of the last update, and of inference.'),
  learningRate: above0.default(1e-4).describe("Adam's."),
  divergenceWeight: z.number().min(0).default(0.01).describe('β_KL: pull towards the untrained policy.'),
  entropyWeight: z.number().min(0).default(0.001).describe('β_H: reward for staying undecided.'),
  dropout: z.number().min(0).max(0.9).default(0.1).describe('Share of the unit vectors that training drops.'),
  hidden: whole(1, 4096, 256).describe('Width of the policy network.'),
  maxUnits: whole(1, 64, 3).describe('Outer units at most.'),
  maxDepth: whole(1, 1000, 4).describe('Agents at most on the longest path.'),
  requestReuse: z
    .boolean()
    .default(true)
    .describe('At temperature 0 an identical request is not paid for again.'),
  rewards: rewardSettingsSchema.prefault({}).describe('Potential and rewards.'),
})

export type TrainingSettings = z.output<typeof trainingSettings>
export type GivenTrainingSettings = z.input<typeof trainingSettings>

/** The rewards that a training really has. */
export function rewardsOf({
  finalRewardOnly,
  rewards,
}: Pick<TrainingSettings, 'finalRewardOnly' | 'rewards'>): TrainingSettings['rewards'] {
  return finalRewardOnly ? { ...rewards, alpha: 0, beta: 0, gammaR: 0 } : rewards
}

/** Settings under a name, for those who would not choose each of them. */
export const presets = {
  /** What the paper trained with. */
  paper: {},
  /**
   * For a model that costs nothing: more graphs per question and larger steps than the paper's, which move a policy little.
   * With so many graphs most questions are solved by all or by none of them; epsilon keeps the noise that is left there from
   * counting as much as a difference in the answers. Tokens cost a little, so that of equals the cheaper one is learned.
   */
  demo: {
    passes: 2,
    trajectories: 24,
    learningRate: 2e-3,
    hidden: 128,
    entropyWeight: 0.01,
    rewards: { epsilon: 0.5, tokenPenalty: 3e-6 },
  },
} as const satisfies Record<string, GivenTrainingSettings>

export type PresetName = keyof typeof presets
