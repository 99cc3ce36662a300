import { invalidAnswer, matched, type Score } from '../../library/score.ts'
import { pythonStrip } from '../../python/text.ts'

export interface ExpectedText {
  /** Any of these is right. */
  readonly accepted: readonly string[]
}

/** Own questions: one of the accepted texts, whatever the case and the white space. Punctuation and articles count. */
export function scoreText(answer: unknown, { accepted }: ExpectedText): Score {
  if (typeof answer !== 'string') return invalidAnswer
  const said = comparable(answer)
  if (said === '') return invalidAnswer
  return matched(accepted.some((text) => comparable(text) === said))
}

/** Letters composed, in one case, words one space apart. By way of capitals ß is ss, as full case folding has it. */
export function comparable(text: string): string {
  return pythonStrip(text).normalize('NFC').toUpperCase().toLowerCase().replace(/\s+/g, ' ')
}
