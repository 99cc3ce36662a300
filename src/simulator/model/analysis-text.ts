import type { Random } from '../../numerics/random.ts'
import type { Situation } from './competence.ts'
import type { AskedNode } from './node-request.ts'
import { numbersIn, type QuestionKind } from './question-kind.ts'
import { prepares, type RoleJob } from './role-profile.ts'

/** The first sentence of an analysis, for a sound view and an unsound one. Later nodes read from it how good a plan or material is. */
const openings: Readonly<Record<RoleJob | 'decide', readonly [sound: string, unsound: string]>> = {
  plan: [
    'The plan covers every condition that the question states.',
    'The plan follows the most common reading of the question.',
  ],
  gather: [
    'All the material that the question needs is located and unambiguous.',
    'The material that the question seems to need is located.',
  ],
  solve: [
    'Each step was carried through and checked against the wording.',
    'The usual steps for this kind of question were taken.',
  ],
  check: [
    'The result was derived a second time by another route.',
    'The result was looked through and raised no objection.',
  ],
  decide: [
    'The results were compared at the step where they part.',
    'The results were weighed against each other as they stand.',
  ],
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

/** Whether a plan or material says that it is sound; undefined if its text is not one of ours. */
export function readSoundness(analysis: string): boolean | undefined {
  for (const [sound, unsound] of [openings.plan, openings.gather, openings.decide]) {
    if (analysis.startsWith(sound)) return true
    if (analysis.startsWith(unsound)) return false
  }
  return undefined
}

/** A few stock sentences of about the length that models write. Only the first one carries meaning. */
export function analysisText(
  { task, concise }: AskedNode,
  { part, role, kind, heard, tool }: Situation,
  conclusion: { readonly answer: number; readonly sound: boolean },
  random: Random,
): string {
  const { answer, sound } = conclusion
  const decides = part === 'aggregator' || part === 'finalizer'
  // The aggregator of planners hands on a plan, and says so as a planner does.
  const opening = openings[decides && !prepares(role) ? 'decide' : role.job]
  const sentences = [opening[sound ? 0 : 1]]
  const answers = heard.filter((one) => one.answer !== undefined)
  if (answers.length > 0) {
    const agreeing = answers.filter((one) => one.answer === answer).length
    sentences.push(`${agreeing} of ${answers.length} earlier results agree with the conclusion.`)
  }
  if (concise) return sentences.join(' ')
  const numbers = numbersIn(task.question).slice(0, 5)
  if (numbers.length > 0) sentences.push(`Given values: ${numbers.join(', ')}.`)
  const pool = [...remarks[kind]]
  const count = part === 'direct' ? 1 : decides ? 2 : 2 + Math.floor(2 * random.uniform())
  for (let said = 0; said < count; said += 1)
    sentences.push(...pool.splice(Math.floor(pool.length * random.uniform()), 1))
  if (tool?.worked === true) sentences.push('The tool result was used as it came back.')
  sentences.push(sound ? 'No open doubt remains.' : 'One assumption was not tested.')
  return sentences.join(' ')
}
