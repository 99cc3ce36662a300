// How likely the simulated model gives each answer; explained in docs/simulated-model.md.
import type { NodePart } from '../../execution/packet.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { constants, kindConstants, toolGain } from './constants.ts'
import type { KnownQuestion } from './known-tasks.ts'
import { prepares, type RoleProfile } from './role-profile.ts'

/** The relevant part of a predecessor's message. */
export interface Heard {
  /** Its index among the possible answers, if it gave one. */
  readonly answer?: number | undefined
  readonly role: RoleProfile
  readonly fromGroup: boolean
  /** Whether it used a tool that worked. */
  readonly usedTool: boolean
  /** Whether a plan or material is sound, according to its text. */
  readonly sound?: boolean | undefined
}

/** A node facing a question. */
export interface Situation extends Pick<KnownQuestion, 'kind' | 'hardness' | 'hasOptions' | 'choices'> {
  readonly part: Exclude<NodePart, 'control'>
  readonly role: RoleProfile
  readonly executor: string
  /** The tool that was used, and whether it worked. */
  readonly tool?: { readonly name: string; readonly worked: boolean } | undefined
  readonly heard: readonly Heard[]
}

/**
 * The probability of each possible answer: the right one at 0, then the tempting ones, then others from messages. The
 * node's own view is weighed against the messages' answers. The remainder to 1 is no answer: a wrong view if nothing
 * is tempting.
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
  // Unsuitability counts in full for everyone, suitability only for nodes doing their own job.
  const atWork = role.job === 'solve' || checks(situation) || (part === 'aggregator' && role.job === 'check')
  const found = logistic(logOdds(situation, suit > 0 && !atWork ? suit * constants.besideTheJob : suit))
  const guess = choices > 1 ? 1 / choices : 0
  return guess + (1 - guess) * found
}

/** Probability that a plan or material is sound. Plans cannot be guessed, and a preparing role counts in full. */
export function soundness(situation: Situation): number {
  return logistic(logOdds(situation, suitOf(situation, situation.role)))
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

function suitOf({ kind, hasOptions }: Situation, { suits, needsOptions }: RoleProfile): number {
  return needsOptions && !hasOptions ? withoutOptions : suits[kind]
}

/** Whether it is a checker that has an answer to check. */
function checks({ role, part, heard }: Situation): boolean {
  const alone = part === 'atomic' || part === 'worker'
  return alone && role.job === 'check' && heard.some(({ answer }) => answer !== undefined)
}

function talent({ executor, kind, role }: Situation): number {
  // No talent for kinds of questions the role does not suit.
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

/** The total trust behind each answer. */
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
