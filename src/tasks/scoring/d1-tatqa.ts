// The strict TAT-QA scorer of diagnostic D1: right or wrong, predating the official F1 and the values/scale answer.
// It reads the executor's text with its `FINAL:` wrapper.
import { equalDecimals, parseDecimal } from '../../python/decimal.ts'
import { pythonSplit, pythonStrip } from '../../python/text.ts'
import { readD1Number, roundToCents, type ScaledNumber } from './d1-number.ts'
import type { TatqaReference } from './reference.ts'

export interface D1Score {
  /** The answer after the marker, or null if there is none to score. */
  readonly extracted: string | null
  readonly scoreCorrect: boolean
  /** Unlike the main protocol, a right answer after an execution failure counts as wrong. */
  readonly correct: boolean
}

export function scoreD1Tatqa(
  response: string,
  reference: TatqaReference,
  failures: readonly unknown[],
): D1Score {
  const extracted = extractFinal(response)
  const scoreCorrect = extracted !== null && isCorrect(extracted, reference)
  return { extracted, scoreCorrect, correct: scoreCorrect && failures.length === 0 }
}

const marker = 'FINAL:'

/** The single line after the only marker in the text. */
function extractFinal(response: string): string | null {
  const at = response.indexOf(marker)
  if (at === -1 || at !== response.lastIndexOf(marker)) return null
  const answer = pythonStrip(response.slice(at + marker.length))
  return answer === '' || /[\r\n]/.test(answer) ? null : answer
}

function isCorrect(answer: string, reference: TatqaReference): boolean {
  if (reference.answerType === 'span') return isSameSpan(answer, reference)
  if (reference.answerType === 'multi-span') return isSameMultiset(answer.split(';'), reference)
  return isSameNumber(answer, reference)
}

/** Arithmetic to the cent, counts exactly; the suffix must match the reference. */
function isSameNumber(answer: string, { answers, scale, answerType }: TatqaReference): boolean {
  const predicted = readD1Number(answer)
  const gold = parseDecimal(answers[0] ?? '')
  if (predicted === undefined || gold === undefined || predicted.scale !== scale) return false
  return answerType === 'count'
    ? equalDecimals(predicted.value, gold)
    : roundToCents(predicted.value) === roundToCents(gold)
}

function isSameSpan(answer: string, reference: TatqaReference): boolean {
  const span = reference.answers.join(' ')
  const gold = goldNumber(span, reference.scale)
  if (gold === undefined) return normalizeSpan(answer) === normalizeSpan(span)
  const predicted = readD1Number(answer)
  return predicted !== undefined && numberKey(predicted) === numberKey(gold)
}

/** Order does not matter, multiplicity does. Pieces are numbers only if a reference span is one. */
function isSameMultiset(pieces: readonly string[], reference: TatqaReference): boolean {
  const golds = reference.answers.map((span) => goldNumber(span, reference.scale))
  const numeric = golds.some((gold) => gold !== undefined)
  const expected = reference.answers.map((span, index) => keyOf(span, golds[index]))
  const predicted = pieces
    .filter((piece) => normalizeSpan(piece) !== '')
    .map((piece) => keyOf(piece, numeric ? readD1Number(piece) : undefined))
  return expected.length === predicted.length && expected.sort().join('\n') === predicted.sort().join('\n')
}

function keyOf(span: string, number: ScaledNumber | undefined): string {
  return number === undefined ? `text ${normalizeSpan(span)}` : numberKey(number)
}

/** Two decimals, ties to even, and the scale. */
function numberKey({ value, scale }: ScaledNumber): string {
  return `number ${roundToCents(value)} ${scale}`
}

/** A reference's scale is its field or, if empty, the span's own suffix. */
function goldNumber(span: string, scale: string): ScaledNumber | undefined {
  const number = readD1Number(span)
  return number === undefined || scale === '' ? number : { value: number.value, scale }
}

const boundary = new Set('.,;:!?"\'“”‘’` ')

/** NFKC, case folding, single spaces, and no punctuation at either end. */
function normalizeSpan(span: string): string {
  const text = pythonSplit(caseFold(span.normalize('NFKC'))).join(' ')
  let start = 0
  let end = text.length
  while (start < end && boundary.has(text[start]!)) start += 1
  while (end > start && boundary.has(text[end - 1]!)) end -= 1
  return text.slice(start, end)
}

/** Python's `casefold`, except for letters newer than its Unicode. By character, so that a final sigma is not special. */
function caseFold(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range begins with them
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  // Upper case first, for letters such as ß that have no simple lower case; the dotless i would become i.
  return Array.from(text, (c) => (c === 'ı' ? c : c.toLowerCase().toUpperCase().toLowerCase())).join('')
}
