// How likely the simulated model is to give which answer. docs/simulated-model.md tells it in words and lists every
// constant. All of them are generic: none was fitted to a result of the paper or of a real model.

import type { NodePart } from '../../execution/packet.ts'
import { deriveRandom } from '../../numerics/random.ts'
import type { QuestionKind } from './question-kind.ts'
import { type Job, type RoleProfile, suitOf } from './role-profile.ts'

interface KindConstants {
  /** Log-odds of finding the answer alone, without role or tool, on a question of middling hardness. */
  readonly ability: number
  /** How far hardness moves the log-odds, either way. Where it is large, all agents fail on the same questions. */
  readonly spread: number
  /** How well a question falls into parts for three workers: from 0, not at all, to 1. */
  readonly divisible: number
}

export const kindConstants: Readonly<Record<QuestionKind, KindConstants>> = {
  knowledge: { ability: -0.2, spread: 3, divisible: 0 },
  commonsense: { ability: -0.8, spread: 2.4, divisible: 0.2 },
  math: { ability: -0.6, spread: 2, divisible: 0.7 },
  code: { ability: -0.8, spread: 2, divisible: 0.6 },
  'table-arithmetic': { ability: -1, spread: 1.8, divisible: 0.8 },
  'table-claim': { ability: -1, spread: 1.8, divisible: 0.5 },
}

/** Log-odds that a tool adds for whoever used it with success. */
export const toolGains: Readonly<Record<string, Readonly<Partial<Record<QuestionKind, number>>>>> = {
  calculator: { math: 0.9, 'table-arithmetic': 0.8, 'table-claim': 0.2 },
  python_exec: { math: 0.9, code: 0.4, 'table-arithmetic': 0.8, 'table-claim': 0.2 },
  public_code: { code: 0.5 },
  table_reader: { 'table-arithmetic': 0.8, 'table-claim': 0.9 },
}

export const constants = {
  /** Log-odds per unit of suitability. */
  suitability: 1.8,
  /** A checker with nothing to check, and a preparer who answers, bring this share of it. */
  besideTheJob: 0.6,
  /** A worker sees one side only: what that costs it where a question does not fall into parts. */
  workerNarrowness: 1.2,
  /** What is left of a hard question's hardness for an aggregator, where it falls into parts altogether. */
  joinedParts: 0.5,
  /** Workers of a group differ by up to this much in what they are good at (a hash of worker and kind). */
  workerTalent: 0.25,
  /** Checking is easier than finding: what a checker with an answer before it feels of a hard question's hardness. */
  checkingEase: 0.7,
  /** What a sound plan or sound material adds for its reader, times suitability, and what an unsound one takes away. */
  preparation: 1.2,
  misguidance: 0.4,
  /** No more preparation than this helps. */
  maxPreparation: 1.5,
  /** What a message from a role that is out of place takes away, times how far it is. */
  distraction: 0.5,
  toolFailure: 0.1,
  /** Weight of a message's answer, and what is added: per unit of suitability, after a tool, for a group's result. */
  trust: 1,
  trustBySuit: 0.4,
  trustOfTool: 0.4,
  trustOfGroup: 0.3,
  /** What is taken off for an answer that a preparer gives by the way. */
  trustInAsides: 0.7,
  /** Weight of one's own view against those of the messages. */
  ownView: { atomic: 1, worker: 1, aggregator: 0.5, finalizer: 0.3, direct: 1 },
  /** A right answer weighs 1 + d, a wrong one 1 - d: how well right is told from wrong when it is seen. */
  discernment: { atomic: 0.2, worker: 0.2, aggregator: 0.15, finalizer: 0.2, direct: 0 },
  checkerDiscernment: 0.45,
  /** Differences in weight smaller than this are easily overlooked. */
  indecision: 0.4,
  /** How often a wrong view falls for the first, second, third and fourth tempting answer. */
  temptation: [0.55, 0.25, 0.12, 0.08],
  /** How often no answer is given: by jobs, where the view is right and where it is wrong. */
  abstention: { plan: [0.75, 0.85], gather: [0.4, 0.55], solve: [0.01, 0.06], check: [0.01, 0.06] },
  /** Where messages bring an answer, those who prepare keep back theirs only this much as often. */
  abstentionAfterAnswers: 0.3,
  /** How often a suitable tool is used. */
  toolUse: 0.92,
  /** How often a program whose public tests failed is put right. */
  mending: 0.45,
} as const

/** A predecessor's message as far as it matters. */
export interface Heard {
  /** Position among the answers in question; absent for none. */
  readonly answer?: number
  readonly role: RoleProfile
  readonly fromGroup: boolean
  /** It rests on a tool that worked. */
  readonly usedTool: boolean
  /** Whether a plan or material is sound, where its text tells. */
  readonly sound?: boolean
}

/** One node before one question. */
export interface Situation {
  readonly kind: QuestionKind
  /** From -1 (easy) to 1 (hard). */
  readonly hardness: number
  readonly hasOptions: boolean
  /** How many answers a guess chooses from; 0 where guessing is hopeless. */
  readonly choices: number
  readonly part: NodePart
  readonly role: RoleProfile
  readonly executor: string
  /** Name of the tool that was used, and whether it worked. */
  readonly tool?: { readonly name: string; readonly worked: boolean }
  readonly heard: readonly Heard[]
}

/**
 * The probability of each answer in question: the right one at 0, then the tempting ones, then any others that messages
 * bring. A view of one's own is weighed against the messages' answers. What is missing from a sum of 1 is no answer: a
 * wrong view where nothing is tempting.
 */
export function answerOdds(situation: Situation, tempting: number, others: number): readonly number[] {
  const total = 1 + tempting + others
  const support = supportOf(situation, total)
  const odds = new Array<number>(total).fill(0)
  for (const [view, probability] of ownViews(situation, tempting).entries()) {
    if (probability === 0) continue
    const weights = support.slice()
    weights[view] = (weights[view] ?? 0) + constants.ownView[situation.part]
    const top = Math.max(...weights)
    const shares = weights.map((weight) => (weight > 0 ? Math.exp((weight - top) / constants.indecision) : 0))
    const sum = shares.reduce((a, b) => a + b, 0)
    for (const [answer, share] of shares.entries()) odds[answer]! += (probability * share) / sum
  }
  return odds
}

/** Probability that a node's own view, before it weighs the messages' answers, is right. */
export function ownCompetence(situation: Situation): number {
  const found = logistic(logOdds(situation, suitForAnswering(situation)))
  const guess = situation.choices > 1 ? 1 / situation.choices : 0
  return guess + (1 - guess) * found
}

/** Probability that a plan or material is sound. Nobody guesses a plan, and preparing is what a preparer is for. */
export function soundness(situation: Situation): number {
  const { role, kind, hasOptions } = situation
  return logistic(logOdds(situation, suitOf(role, kind, hasOptions)))
}

function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds))
}

function logOdds(situation: Situation, suit: number): number {
  const { kind, hardness, part, role, tool } = situation
  const { ability, spread, divisible } = kindConstants[kind]
  let load = hardness * spread
  if (load > 0 && part === 'aggregator') load *= 1 - divisible * (1 - constants.joinedParts)
  if (load > 0 && checks(situation)) load *= constants.checkingEase
  let odds = ability - load + preparation(situation) - distraction(situation)
  if (part === 'finalizer' || part === 'direct') return odds
  odds += constants.suitability * suit
  if (part === 'worker')
    odds += talent(situation.executor, kind, role) - constants.workerNarrowness * (1 - divisible)
  if (tool !== undefined) odds += tool.worked ? toolGain(tool.name, kind) : -constants.toolFailure
  return odds
}

export function toolGain(tool: string, kind: QuestionKind): number {
  return (Object.hasOwn(toolGains, tool) ? toolGains[tool]![kind] : undefined) ?? 0
}

/** Suitability counts in full for those who do their own job; being out of place does so for everyone. */
function suitForAnswering(situation: Situation): number {
  const { role, part, kind, hasOptions } = situation
  const suit = suitOf(role, kind, hasOptions)
  const atWork = role.job === 'solve' || checks(situation) || (part === 'aggregator' && role.job === 'check')
  return suit > 0 && !atWork ? suit * constants.besideTheJob : suit
}

function checks({ role, part, heard }: Situation): boolean {
  const own = part === 'atomic' || part === 'worker'
  return own && role.job === 'check' && heard.some(({ answer }) => answer !== undefined)
}

function talent(executor: string, kind: QuestionKind, role: RoleProfile): number {
  // Nobody is talented at what the role cannot do.
  if (role.suits[kind] <= 0) return 0
  return constants.workerTalent * (2 * deriveRandom('talent', executor, kind).uniform() - 1)
}

function preparation({ heard, kind, hasOptions }: Situation): number {
  let sum = 0
  for (const { role, sound } of heard) {
    if (sound === undefined || isSolving(role.job)) continue
    const suit = Math.max(0, suitOf(role, kind, hasOptions))
    sum += suit * (sound ? constants.preparation : -constants.misguidance)
  }
  return Math.min(constants.maxPreparation, sum)
}

function distraction({ heard, kind, hasOptions }: Situation): number {
  let sum = 0
  for (const { role } of heard) sum += Math.max(0, -suitOf(role, kind, hasOptions))
  return constants.distraction * sum
}

export function isSolving(job: Job): boolean {
  return job === 'solve' || job === 'check'
}

/** The right view first, then those for which the tempting answers stand. */
function ownViews(situation: Situation, tempting: number): readonly number[] {
  const right = ownCompetence(situation)
  const pulls = constants.temptation.slice(0, tempting)
  const sum = pulls.reduce((a, b) => a + b, 0)
  return [right, ...pulls.map((pull) => ((1 - right) * pull) / sum)]
}

function supportOf(situation: Situation, total: number): number[] {
  const { kind, hasOptions } = situation
  const discernment = checks(situation) ? constants.checkerDiscernment : constants.discernment[situation.part]
  const support = new Array<number>(total).fill(0)
  for (const { answer, role, fromGroup, usedTool } of situation.heard) {
    if (answer === undefined) continue
    const trust =
      constants.trust +
      constants.trustBySuit * suitOf(role, kind, hasOptions) +
      (usedTool ? constants.trustOfTool : 0) +
      (fromGroup ? constants.trustOfGroup : 0) -
      (isSolving(role.job) ? 0 : constants.trustInAsides)
    support[answer]! += trust * (answer === 0 ? 1 + discernment : 1 - discernment)
  }
  return support
}
