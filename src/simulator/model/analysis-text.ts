import type { NodePart } from '../../execution/packet.ts'
import type { Random } from '../../numerics/random.ts'
import { numbersIn, type QuestionKind } from './question-kind.ts'
import type { Job } from './role-profile.ts'

/** What an analysis is about. */
export interface Account {
  readonly part: NodePart
  readonly job: Job
  readonly kind: QuestionKind
  readonly question: string
  /** Whether the view behind it is right. */
  readonly sound: boolean
  readonly toolUsed: boolean
  /** How many messages gave an answer, and how many of them the same one. */
  readonly heard: number
  readonly agreeing: number
  readonly concise: boolean
}

interface Opening {
  readonly sound: string
  readonly unsound: string
}

/** The first sentence tells a careful reader how much a plan or material is worth. */
const openings: Readonly<Record<Job | 'decide', Opening>> = {
  plan: {
    sound: 'The plan covers every condition that the question states.',
    unsound: 'The plan follows the most common reading of the question.',
  },
  gather: {
    sound: 'All the material that the question needs is located and unambiguous.',
    unsound: 'The material that the question seems to need is located.',
  },
  solve: {
    sound: 'Each step was carried through and checked against the wording.',
    unsound: 'The usual steps for this kind of question were taken.',
  },
  check: {
    sound: 'The result was derived a second time by another route.',
    unsound: 'The result was looked through and raised no objection.',
  },
  decide: {
    sound: 'The results were compared at the step where they part.',
    unsound: 'The results were weighed against each other as they stand.',
  },
}

const remarks: Readonly<Record<QuestionKind, readonly string[]>> = {
  knowledge: [
    'The concept in question is separated from its neighbours by its definition.',
    'Two of the alternatives describe the effect and not the cause.',
    'The recalled fact is common textbook knowledge; its exception does not apply here.',
    'An alternative that is true in general does not answer what was asked.',
  ],
  commonsense: [
    'The question hides an intermediate fact that has to be settled first.',
    'The usual meaning of the terms decides; a literal reading changes nothing.',
    'The two facts were put side by side and compared in time and size.',
    'An exception was looked for and would have to be far-fetched.',
  ],
  math: [
    'The unknown was named and the conditions were written as equations.',
    'Units agree on both sides.',
    'The order of magnitude fits a rough estimate.',
    'The intermediate result was put back into the conditions.',
  ],
  code: [
    'Empty input, a single element and the largest size were walked through by hand.',
    'The loop visits each element once, which is fast enough.',
    'The interface has the required name and returns a value.',
    'The invariant holds before and after every pass.',
  ],
  'table-arithmetic': [
    'Rows and columns were matched by their full names, not by position.',
    'The scale is the one that the caption states.',
    'Totals were kept apart from the rows that they sum up.',
    'The values were copied with their signs before anything was computed.',
  ],
  'table-claim': [
    'Every row that the claim could mean was looked at.',
    'The quantifier of the claim was tested against its counterexample.',
    'Headers and units were read before values were compared.',
    'The claim was split into parts, each of which must hold.',
  ],
}

/** How sure a preparing message sounds; undefined where its text is not one of ours. */
export function readSoundness(analysis: string): boolean | undefined {
  for (const { sound, unsound } of [openings.plan, openings.gather, openings.decide]) {
    if (analysis.startsWith(sound)) return true
    if (analysis.startsWith(unsound)) return false
  }
  return undefined
}

/** A few sentences of about the length that models write. Their content is stock; only the first one carries meaning. */
export function analysisText(account: Account, random: Random): string {
  const { part, job, kind, sound, heard, agreeing } = account
  const decides = part === 'aggregator' || part === 'finalizer'
  // The aggregator of planners hands on a plan, and says so as a planner does.
  const opening = openings[decides && (job === 'solve' || job === 'check') ? 'decide' : job]
  const sentences = [sound ? opening.sound : opening.unsound]
  if (heard > 0) sentences.push(`${agreeing} of ${heard} earlier results agree with the conclusion.`)
  if (account.concise) return sentences.join(' ')
  const numbers = numbersIn(account.question).slice(0, 5)
  if (numbers.length > 0) sentences.push(`Given values: ${numbers.join(', ')}.`)
  const pool = [...remarks[kind]]
  const count = part === 'direct' ? 1 : decides ? 2 : 2 + Math.floor(2 * random.uniform())
  for (let said = 0; said < count; said += 1) {
    const at = Math.floor(pool.length * random.uniform())
    sentences.push(...pool.splice(at, 1))
  }
  if (account.toolUsed) sentences.push('The tool result was used as it came back.')
  sentences.push(sound ? 'No open doubt remains.' : 'One assumption was not tested.')
  return sentences.join(' ')
}
