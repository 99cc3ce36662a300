// How likely the simulated model is to give which answer; docs/simulated-model.md explains it with every constant.
// None of them was fitted to a result of the paper or of a real model.

import type { NodePart } from '../../execution/packet.ts'
import { deriveRandom } from '../../numerics/random.ts'
import type { QuestionKind } from './question-kind.ts'
import { prepares, type RoleProfile } from './role-profile.ts'

interface KindConstants {
  /** Log-odds of finding the answer alone, without role or tool, on a question of middling hardness. */
  readonly ability: number
  /** How far hardness moves the log-odds. Where it is large, all agents fail on the same questions. */
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

/** Log-odds that a tool adds when it worked. */
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
  /** Its place among the possible answers, if it gave one. */
  readonly answer?: number | undefined
  readonly role: RoleProfile
  readonly fromGroup: boolean
  /** It rests on a tool that worked. */
  readonly usedTool: boolean
  /** Whether a plan or material is sound, where its text tells. */
  readonly sound?: boolean | undefined
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
  /** The tool that was used, and whether it worked. */
  readonly tool?: { readonly name: string; readonly worked: boolean } | undefined
  readonly heard: readonly Heard[]
}

/**
 * The probability of each possible answer: the right one at 0, then the tempting ones, then others that messages bring. The
 * node's own view is weighed against the messages' answers. What is missing to 1 is no answer: a wrong view where nothing is
 * tempting.
 */
export function answerOdds(situation: Situation, tempting: number, others: number): readonly number[] {
  const support = supportOf(situation, 1 + tempting + others)
  const odds = support.map(() => 0)
  for (const [view, probability] of ownViews(situation, tempting).entries()) {
    if (probability === 0) continue
    const weights = support.with(view, support[view] + constants.ownView[situation.part])
    const top = Math.max(...weights)
    const shares = weights.map((weight) => (weight > 0 ? Math.exp((weight - top) / constants.indecision) : 0))
    const all = sum(shares)
    for (const [answer, share] of shares.entries()) odds[answer] += (probability * share) / all
  }
  return odds
}

/** Probability that a node's own view, before it weighs the messages' answers, is right. */
export function ownCompetence(situation: Situation): number {
  const { part, role, choices } = situation
  const suit = suitOf(situation, role)
  // Being out of place counts in full for everyone, being suitable only for those who do their own job.
  const atWork = role.job === 'solve' || checks(situation) || (part === 'aggregator' && role.job === 'check')
  const found = logistic(logOdds(situation, suit > 0 && !atWork ? suit * constants.besideTheJob : suit))
  const guess = choices > 1 ? 1 / choices : 0
  return guess + (1 - guess) * found
}

/** Probability that a plan or material is sound. Nobody guesses a plan, and preparing is what a preparer is for. */
export function soundness(situation: Situation): number {
  return logistic(logOdds(situation, suitOf(situation, situation.role)))
}

export function toolGain(tool: string, kind: QuestionKind): number {
  return (Object.hasOwn(toolGains, tool) ? toolGains[tool][kind] : undefined) ?? 0
}

function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds))
}

function logOdds(situation: Situation, suit: number): number {
  const { kind, hardness, part, tool } = situation
  const { ability, spread, divisible } = kindConstants[kind]
  let load = hardness * spread
  if (load > 0 && part === 'aggregator') load *= 1 - divisible * (1 - constants.joinedParts)
  if (load > 0 && checks(situation)) load *= constants.checkingEase
  let odds = ability - load + preparation(situation) - distraction(situation)
  if (part === 'finalizer' || part === 'direct') return odds
  odds += constants.suitability * suit
  if (part === 'worker') odds += talent(situation) - constants.workerNarrowness * (1 - divisible)
  if (tool !== undefined) odds += tool.worked ? toolGain(tool.name, kind) : -constants.toolFailure
  return odds
}

const withoutOptions = -0.6

function suitOf({ kind, hasOptions }: Situation, { suits, needsOptions = false }: RoleProfile): number {
  return needsOptions && !hasOptions ? withoutOptions : suits[kind]
}

/** Whether it is a checker with an answer to check. */
function checks({ role, part, heard }: Situation): boolean {
  const alone = part === 'atomic' || part === 'worker'
  return alone && role.job === 'check' && heard.some(({ answer }) => answer !== undefined)
}

function talent({ executor, kind, role }: Situation): number {
  // Nobody is talented at what the role cannot do.
  if (role.suits[kind] <= 0) return 0
  return constants.workerTalent * (2 * deriveRandom('talent', executor, kind).uniform() - 1)
}

function preparation(situation: Situation): number {
  const gains = situation.heard.map(({ role, sound }) => {
    if (sound === undefined || !prepares(role)) return 0
    return Math.max(0, suitOf(situation, role)) * (sound ? constants.preparation : -constants.misguidance)
  })
  return Math.min(constants.maxPreparation, sum(gains))
}

function distraction(situation: Situation): number {
  return constants.distraction * sum(situation.heard.map(({ role }) => Math.max(0, -suitOf(situation, role))))
}

/** The probabilities of the node's own view: the right one first, then those of the tempting answers. */
function ownViews(situation: Situation, tempting: number): readonly number[] {
  const right = ownCompetence(situation)
  const pulls = constants.temptation.slice(0, tempting)
  const all = sum(pulls)
  return [right, ...pulls.map((pull) => ((1 - right) * pull) / all)]
}

/** The trust in those who gave each answer. */
function supportOf(situation: Situation, answers: number): number[] {
  const discernment = checks(situation) ? constants.checkerDiscernment : constants.discernment[situation.part]
  const support = new Array<number>(answers).fill(0)
  for (const { answer, role, fromGroup, usedTool } of situation.heard) {
    if (answer === undefined) continue
    const trust =
      constants.trust +
      constants.trustBySuit * suitOf(situation, role) +
      (usedTool ? constants.trustOfTool : 0) +
      (fromGroup ? constants.trustOfGroup : 0) -
      (prepares(role) ? constants.trustInAsides : 0)
    support[answer] += trust * (answer === 0 ? 1 + discernment : 1 - discernment)
  }
  return support
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0)
}
