import { z } from 'zod'
import { paperAdam } from '../numerics/adam.ts'
import { paperDropout } from '../policy/parameter-shapes.ts'
import { rewardSettingsSchema } from './rewards.ts'

const whole = (least: number, most: number, usual: number) => z.int().min(least).max(most).default(usual)
const above0 = z.number().positive()

/** How a policy is trained, each setting with the paper's value as its default. */
export const trainingSettings = z.strictObject({
  method: z
    .enum(['paper', 'values'])
    .default('paper')
    .describe(
      'How it learns: the paper’s Procedure A1, or by values, our own: from every evaluation, per question.',
    ),
  seed: z.int().nonnegative().default(42).describe('Seed of weights, draws and probes.'),
  passes: whole(1, 1000, 1).describe('Passes over the training questions.'),
  updates: z
    .int()
    .min(1)
    .optional()
    .describe('Stop after this many updates; by default all passes are made.'),
  trajectories: whole(2, 256, 2).describe('K: graphs built for each question of an update.'),
  probes: whole(0, 256, 4).describe('P: other training questions that each partial graph is run on.'),
  restriction: z
    .enum(['mixed', 'all-atomic', 'all-group'])
    .default('mixed')
    .describe('Whether units may be single agents, groups, or both.'),
  finalRewardOnly: z.boolean().default(false).describe('Ablation: no dense rewards and no probes.'),
  initialisationOnly: z.boolean().default(false).describe('Ablation: keep the untrained policy.'),
  temperatureStart: above0.default(1.2).describe('Temperature of the first update.'),
  temperatureEnd: above0.default(1).describe('Temperature at the end of the schedule.'),
  temperatureUpdates: whole(0, 1_000_000, 100).describe(
    'Updates over which the temperature falls; later ones stay at its end. 0 for all updates of the run.',
  ),
  useTemperature: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .describe(
      'Temperature of the policy in use; 0 takes the most probable choices. Draws then depend on what is asked. By default as in the paper: temperatureEnd, and draws by question id.',
    ),
  learningRate: above0.default(paperAdam.learningRate).describe('Learning rate of Adam.'),
  divergenceWeight: z
    .number()
    .min(0)
    .default(0.01)
    .describe('β_KL: weight of the divergence from the untrained policy.'),
  entropyWeight: z
    .number()
    .min(0)
    .default(0.001)
    .describe('β_H: weight of the entropy, which rewards exploring.'),
  dropout: z
    .number()
    .min(0)
    .max(0.9)
    .default(paperDropout)
    .describe('Share of the unit vectors that dropout zeroes in training.'),
  gain: above0
    .max(100)
    .default(1)
    .describe('Multiplies the frozen vectors of roles and questions where they enter the policy network.'),
  evaluations: z
    .int()
    .min(1)
    .optional()
    .describe('By values: graph evaluations to pay for; by default 40 for each training question.'),
  pointsPer1000Tokens: z
    .number()
    .min(0)
    .default(1)
    .describe('By values: points of score, of 100, that 1,000 more tokens per question must bring.'),
  maxTokensOfDirect: above0
    .optional()
    .describe('By values: no more tokens per question than the model alone takes, times this.'),
  patience: whole(0, 10, 0).describe(
    'By values: stop exploring once so many rounds brought nothing better; 0 explores to the end.',
  ),
  hidden: whole(1, 4096, 256).describe('Width of the policy network.'),
  maxUnits: whole(1, 64, 3).describe('Largest number of units in a graph.'),
  maxDepth: whole(1, 1000, 4).describe('Largest number of agents on a path through a graph.'),
  requestReuse: z
    .boolean()
    .default(true)
    .describe('Reuse the answers to identical requests at temperature 0.'),
  rewards: rewardSettingsSchema.prefault({}).describe('Potential and rewards.'),
})

export type TrainingSettings = z.output<typeof trainingSettings>
export type GivenTrainingSettings = z.input<typeof trainingSettings>

/** As earlier versions wrote them: without a schedule of its own, the temperature fell over the whole run. */
export const recordedTrainingSettings = z.preprocess(
  (written) => (typeof written === 'object' ? { temperatureUpdates: 0, ...written } : written),
  trainingSettings,
)

/** The rewards of a training, with its ablation applied. */
export function rewardsOf({ finalRewardOnly, rewards }: TrainingSettings): TrainingSettings['rewards'] {
  return finalRewardOnly ? { ...rewards, alpha: 0, beta: 0, gammaR: 0 } : rewards
}

/** How many updates a finished training on this many questions has. */
export function updatesOf(
  { method, initialisationOnly, passes, updates = Number.POSITIVE_INFINITY }: TrainingSettings,
  questions: number,
): number {
  if (initialisationOnly) return 0
  if (method === 'values') return valueRounds.survey + valueRounds.explore + valueRounds.confirm
  return Math.min(questions * passes, updates)
}

/** The updates of a training by values: a look at random graphs, some that explore, and some that confirm the best. */
export const valueRounds = { survey: 6, explore: 5, confirm: 2 } as const

/** Evaluations that a training by values pays for. */
export function evaluationsFor({ evaluations }: TrainingSettings, questions: number): number {
  return evaluations ?? 40 * questions
}

/** Named groups of settings. */
export const trainingPresets = {
  /** What the paper trained with. */
  paper: {},
  /**
   * Our own method: what a user should choose. The gain lets the network see which question it is asked; in use it takes the
   * most probable choices.
   */
  values: {
    method: 'values',
    gain: 10,
    hidden: 128,
    learningRate: 1e-3,
    divergenceWeight: 0,
    entropyWeight: 0,
    useTemperature: 0,
  },
} as const satisfies Record<string, GivenTrainingSettings>

export type TrainingPreset = keyof typeof trainingPresets
