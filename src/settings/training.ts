import { z } from 'zod'
import { paperAdam } from '../numerics/adam.ts'
import { paperDropout } from '../policy/parameter-shapes.ts'
import { rewardSettingsSchema } from './rewards.ts'

const whole = (least: number, most: number, usual: number) => z.int().min(least).max(most).default(usual)
const above0 = z.number().positive()

/** How a policy is trained. Every default is the paper's value. */
export const trainingSettings = z.strictObject({
  method: z
    .enum(['paper', 'values'])
    .default('paper')
    .describe(
      'How the policy learns: `paper` is Procedure A1; `values` is our own method, which learns from every evaluation of a question.',
    ),
  seed: z.int().nonnegative().default(42).describe('Seed of weights, draws and probes.'),
  passes: whole(1, 1000, 1).describe('Passes over the training questions.'),
  updates: z.int().min(1).optional().describe('Stop after this many updates. Default: all passes.'),
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
    'Updates over which the temperature falls; later updates stay at its end. 0: all updates of the run.',
  ),
  useTemperature: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .describe(
      'Temperature of the trained policy in use; 0 takes the most probable choices. If set, draws depend on the text of the question. Default, as in the paper: temperatureEnd, with draws by question id.',
    ),
  learningRate: above0.default(paperAdam.learningRate).describe('Learning rate of Adam.'),
  divergenceWeight: z
    .number()
    .min(0)
    .default(0.01)
    .describe('β_KL: weight of the KL divergence from the untrained policy.'),
  entropyWeight: z
    .number()
    .min(0)
    .default(0.001)
    .describe('β_H: weight of the entropy, which rewards exploration.'),
  dropout: z
    .number()
    .min(0)
    .max(0.9)
    .default(paperDropout)
    .describe('Dropout rate of the unit vectors in training.'),
  gain: above0
    .max(100)
    .default(1)
    .describe(
      'Factor applied to the frozen vectors of roles and questions at the input of the policy network.',
    ),
  evaluations: z
    .int()
    .min(1)
    .optional()
    .describe('Only for method=values: number of graph evaluations. Default: 40 per training question.'),
  pointsPer1000Tokens: z
    .number()
    .min(0)
    .default(1)
    .describe(
      'Only for method=values: score points (out of 100) that 1,000 extra tokens per question must gain.',
    ),
  maxTokensOfDirect: above0
    .optional()
    .describe('Only for method=values: limit on tokens per question, as a multiple of a direct answer.'),
  patience: whole(0, 10, 0).describe(
    'Only for method=values: stop exploring after this many rounds without improvement; 0 never stops early.',
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

/** Also reads settings of earlier versions, where the temperature always fell over the whole run. */
export const recordedTrainingSettings = z.preprocess(
  (written) => (typeof written === 'object' ? { temperatureUpdates: 0, ...written } : written),
  trainingSettings,
)

/** The rewards of a training, with its ablation applied. */
export function rewardsOf({ finalRewardOnly, rewards }: TrainingSettings): TrainingSettings['rewards'] {
  return finalRewardOnly ? { ...rewards, alpha: 0, beta: 0, gammaR: 0 } : rewards
}

/** Number of updates of a full training on this many questions. */
export function updatesOf(
  { method, initialisationOnly, passes, updates = Number.POSITIVE_INFINITY }: TrainingSettings,
  questions: number,
): number {
  if (initialisationOnly) return 0
  if (method === 'values') return valueRounds.survey + valueRounds.explore + valueRounds.confirm
  return Math.min(questions * passes, updates)
}

/** The rounds of a training by values: a survey of random graphs, exploration, and confirmation of the best. */
export const valueRounds = { survey: 6, explore: 5, confirm: 2 } as const

/** Number of evaluations of a training by values. */
export function evaluationsFor({ evaluations }: TrainingSettings, questions: number): number {
  return evaluations ?? 40 * questions
}

/** Named groups of settings. */
export const trainingPresets = {
  /** The paper's settings. */
  paper: {},
  /**
   * Our own method, recommended for users. The gain lets the network tell questions apart; in use, the policy takes
   * the most probable choices.
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
