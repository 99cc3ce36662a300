import type { HumanevalReference, LivecodebenchReference, Reference } from '../benchmarks/reference.ts'
import { scoreBoolean } from './boolean.ts'
import { scoreChoice } from './choice.ts'
import { scoreGsm8k } from './gsm8k.ts'
import type { Score } from './scorer.ts'
import { scoreTatqa } from './tatqa.ts'

/** References that are compared with the answer itself; programs are run instead (code/). */
export type AnswerReference = Exclude<Reference, HumanevalReference | LivecodebenchReference>

export function scoreAnswer(answer: unknown, reference: AnswerReference): Score {
  switch (reference.kind) {
    case 'choice':
      return scoreChoice(answer, reference)
    case 'boolean':
      return scoreBoolean(answer, reference)
    case 'number-text':
      return scoreGsm8k(answer, reference)
    case 'tatqa':
      return scoreTatqa(answer, reference)
  }
}
