import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Random } from '../../numerics/random.ts'
import type { Situation } from './competence.ts'
import type { AskedNode } from './node-request.ts'
import { numbersIn, type QuestionKind } from './question-kind.ts'
import { prepares, type RoleJob } from './role-profile.ts'

/** The content of `sentences.yaml`, which explains it. */
interface Sentences {
  readonly openings: Readonly<Record<RoleJob | 'decide', readonly [sound: string, unsound: string]>>
  readonly remarks: Readonly<Record<QuestionKind, readonly string[]>>
}

const { openings, remarks }: Sentences = parse(
  readFileSync(new URL('sentences.yaml', import.meta.url), 'utf8'),
)

/** Whether a plan or material claims to be sound; undefined if its text is not one of ours. */
export function readSoundness(analysis: string): boolean | undefined {
  for (const [sound, unsound] of [openings.plan, openings.gather, openings.decide]) {
    if (analysis.startsWith(sound)) return true
    if (analysis.startsWith(unsound)) return false
  }
  return undefined
}

/** A few stock sentences of about the length models write. Only the first one carries meaning. */
export function analysisText(
  { task, concise }: AskedNode,
  { part, role, kind, heard, tool }: Situation,
  conclusion: { readonly answer: number; readonly sound: boolean },
  random: Random,
): string {
  const { answer, sound } = conclusion
  const decides = part === 'aggregator' || part === 'finalizer'
  // The aggregator of planners passes on a plan, in a planner's words.
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
