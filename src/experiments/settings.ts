// The settings of the paper's seven experiments. Anything else uses the core configuration: the defaults of
// settings/training.ts and settings/execution.ts.
import type { GivenTrainingSettings } from '../settings/training.ts'
import type { BenchmarkName } from '../tasks/benchmarks/list.ts'
import type { Study } from '../tasks/studies/study.ts'
import type { Q2Variant } from './tables/q2-table.ts'

/** Common to all experiments. */
export interface ExperimentSettings {
  readonly title: string
  /** The study whose selection of examples is used. */
  readonly study: Study
  /** Default task sets. */
  readonly tasks: readonly BenchmarkName[]
  /** The model used in the paper. */
  readonly paperModel: string
  readonly seed: number
  /** Overrides of the core configuration. */
  readonly training: GivenTrainingSettings
}

const deepseek = 'DeepSeek V4 Flash'
const qwen = 'Qwen Flash'
/** Special values for `paperModel`. */
export const notNamed = 'not named'
export const notInPaper = 'none: not in the paper'

export const q1Settings = {
  title: 'Overall performance',
  study: 'q1',
  tasks: ['mmlu_pro', 'strategyqa', 'aqua', 'gsm8k', 'humaneval', 'livecodebench', 'tatqa', 'tabfact'],
  paperModel: deepseek,
  seed: 42,
  training: {},
} as const satisfies ExperimentSettings

export const q2Settings = {
  title: 'Component ablations',
  study: 'q2',
  tasks: ['mmlu_pro', 'tatqa'],
  paperModel: qwen,
  seed: 23,
  training: {},
  /** All start from the same weights. Restrictions apply to training and use. */
  variants: {
    'all-atomic': { restriction: 'all-atomic' },
    'all-group': { restriction: 'all-group' },
    'initialisation-only': { initialisationOnly: true },
    'final-reward-only': { finalRewardOnly: true },
    full: {},
  } satisfies Record<Q2Variant, GivenTrainingSettings>,
} as const satisfies ExperimentSettings & { variants: unknown }

export const q3Settings = {
  title: 'Search-then-SFT against dense-reward RL at equal money',
  study: 'q3',
  tasks: ['mmlu_pro', 'tatqa'],
  paperModel: qwen,
  seed: 23,
  // The paper reuses graph–question pairs only.
  training: { requestReuse: false },
  /** Upper limit: a route cycles through the questions until its budget is spent. */
  passes: 1000,
  /** In the currency of the model's price, CNY in the paper. */
  budget: 10,
  /** Used if the model has no price. */
  tokenBudget: 5_000_000,
  /** Number of equal stages of the budget. */
  stages: 5,
} as const satisfies ExperimentSettings & Record<string, unknown>

export const q4Settings = {
  title: 'Performance against tokens',
  study: 'q1',
  tasks: ['mmlu_pro', 'gsm8k', 'humaneval', 'tabfact'],
  paperModel: deepseek,
  seed: 42,
  training: {},
  /** Organisations of the paper's figure that need no training. */
  organisations: ['chain-topology', 'complete-topology', 'random-topology', 'tree-topology', 'llm-debate'],
} as const satisfies ExperimentSettings & Record<string, unknown>

export const d1Settings = {
  title: 'Granularity assignments',
  study: 'd1',
  tasks: ['mmlu_pro', 'tatqa'],
  paperModel: notNamed,
  seed: 42,
  training: { maxDepth: 6 },
  /** A chain in this order. */
  skeleton: ['task_decomposer', 'independent_solver', 'adversarial_verifier'],
} as const satisfies ExperimentSettings & Record<string, unknown>

export const d2Settings = {
  title: 'Verified coverage',
  roles: [1, 2, 3, 4, 6, 8, 10, 14, 20],
  budgets: [1, 8, 64, 512, 4096, 1_000_000],
} as const

export const d3Settings = {
  title: 'Construction credit on shared trajectories',
  study: 'd3',
  tasks: ['mmlu_pro', 'gsm8k', 'humaneval'],
  paperModel: qwen,
  seed: 42,
  training: { trajectories: 8, temperatureUpdates: 30 },
} as const satisfies ExperimentSettings

/** Beyond the paper: what a policy learns when tokens or calls are penalised. A call has about a thousand tokens. */
export const sweepSettings = {
  title: 'Cost–quality sweep',
  study: 'q2',
  tasks: ['mmlu_pro'],
  paperModel: notInPaper,
  seed: 42,
  training: {},
  penalties: { tokens: [1e-6, 3e-6, 1e-5, 3e-5] },
  callPenalties: [1e-3, 3e-3, 1e-2, 3e-2],
} as const satisfies ExperimentSettings & Record<string, unknown>

/** Beyond the paper: a policy on questions of another kind. */
export const transferSettings = {
  title: 'Transfer between task sets',
  study: 'q2',
  tasks: ['mmlu_pro', 'tatqa'],
  paperModel: notInPaper,
  seed: 42,
  training: {},
} as const satisfies ExperimentSettings
