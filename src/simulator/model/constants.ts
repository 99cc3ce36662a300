// docs/simulated-model.md explains every constant, and a test compares the values. None of them was fitted to results
// of the paper or of a real model.
import type { QuestionKind } from './question-kind.ts'

export const kindConstants = {
  knowledge: { ability: -0.2, spread: 3, divisible: 0 },
  commonsense: { ability: -0.8, spread: 2.4, divisible: 0.2 },
  math: { ability: -0.6, spread: 2, divisible: 0.7 },
  code: { ability: -0.8, spread: 2, divisible: 0.6 },
  'table-arithmetic': { ability: -1, spread: 1.8, divisible: 0.8 },
  'table-claim': { ability: -1, spread: 1.8, divisible: 0.5 },
} as const

export const toolGains: Readonly<Record<string, Readonly<Partial<Record<QuestionKind, number>>>>> = {
  calculator: { math: 0.9, 'table-arithmetic': 0.8, 'table-claim': 0.2 },
  python_exec: { math: 0.9, code: 0.4, 'table-arithmetic': 0.8, 'table-claim': 0.2 },
  public_code: { code: 0.5 },
  table_reader: { 'table-arithmetic': 0.8, 'table-claim': 0.9 },
}

/** Log-odds added by a tool that worked. */
export function toolGain(tool: string, kind: QuestionKind): number {
  return (Object.hasOwn(toolGains, tool) ? toolGains[tool][kind] : undefined) ?? 0
}

export const constants = {
  shownHardness: 0.7,
  easyWords: 30,
  hardWords: 240,
  suitability: 2.4,
  besideTheJob: 0.6,
  workerNarrowness: 1.2,
  joinedParts: 0.5,
  workerTalent: 0.25,
  checkingEase: 0.7,
  preparation: 1.2,
  misguidance: 0.4,
  maxPreparation: 1.5,
  distraction: 0.8,
  toolFailure: 0.1,
  trust: 1,
  trustBySuit: 0.2,
  trustOfTool: 0.4,
  trustOfGroup: 0.3,
  trustInAsides: 0.7,
  ownView: { atomic: 1, worker: 1, aggregator: 0.5, finalizer: 0.3, direct: 1 },
  discernment: { atomic: 0.2, worker: 0.2, aggregator: 0.15, finalizer: 0.2, direct: 0 },
  checkerDiscernment: 0.45,
  indecision: 0.4,
  temptation: [0.55, 0.25, 0.12, 0.08],
  abstention: { plan: [0.75, 0.85], gather: [0.4, 0.55], solve: [0.01, 0.06], check: [0.01, 0.06] },
  abstentionAfterAnswers: 0.3,
  toolUse: 0.92,
  mending: 0.45,
} as const

/** Constants of tokens and time. */
export const costConstants = {
  charactersPerToken: 4,
  frame: 8,
  cacheBlock: 64,
  cacheHits: 0.8,
  typicalOutput: 120,
  fixedShare: 0.4,
  jitter: 0.2,
} as const

/** Constants of planners, rankers and verifiers. */
export const controlConstants = {
  noise: 0.3,
  discernment: 0.5,
  passes: { right: 0.9, wrong: 0.4, other: 0.95 },
} as const
