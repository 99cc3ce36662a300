// What the official TAT-QA scorer compares: all answers of one side as one normalized text.
import { compareCodePoints } from '../../python/code-point-order.ts'
import { pythonFixed, pythonFloatText, pythonRound } from '../../python/float.ts'
import { pythonSplit } from '../../python/text.ts'
import { type PythonNumber, readTatqaNumber, scaleFactor, times, toFloat } from './tatqa-number.ts'

/** The answers, sorted and joined: numbers get four decimals and are multiplied by their scale, others get it appended. */
export function tatqaText(answers: readonly string[], scale: string): string {
  if (answers.length === 1) return answerText(answers[0]!, readTatqaNumber(answers[0]!), scale)
  return [...answers]
    .sort(compareCodePoints)
    .map((answer) => answerText(answer, readTatqaNumber(answer), scale))
    .join(' ')
}

/** The texts of a prediction: a single number without scale and `%` also counts without rounding to cents. */
export function predictedTexts(answers: readonly string[], scale: string): [first: string, second?: string] {
  const answer = answers[0]!
  if (answers.length !== 1 || scale !== '' || answer.includes('%')) return [tatqaText(answers, scale)]
  const value = readTatqaNumber(answer)
  const first = answerText(answer, value, scale)
  return value === undefined || value === null ? [first] : [first, fourDecimals(value)]
}

function answerText(answer: string, value: PythonNumber | null | undefined, scale: string): string {
  if (value === undefined || value === null) return scale === '' ? answer : `${answer} ${scale}`
  if (answer.includes('%')) return fourDecimals(value)
  const cents = typeof value === 'bigint' ? value : pythonRound(value, 2)
  return fourDecimals(times(cents, scaleFactor(scale)))
}

function fourDecimals(value: PythonNumber): string {
  return pythonFixed(toFloat(value), 4)
}

/** The words of a text: lower case, no ASCII punctuation, numbers in Python's notation, no articles. */
export function normalizeTatqa(text: string): string[] {
  const lower = text.toLowerCase()
  const words: string[] = []
  let start = 0
  let letters = true // nothing but a to z since `start`
  for (let i = 0; i <= lower.length; i += 1) {
    const code = i < lower.length ? lower.charCodeAt(i) : 0x20
    if (code !== 0x20) {
      if (code < 97 || code > 122) letters = false
      continue
    }
    if (i > start) addWords(lower.slice(start, i), letters, words)
    start = i + 1
    letters = true
  }
  return words
}

const punctuation = /[!-/:-@[-`{-~]/g

/** Turns a piece between two spaces into words: usually one, none for an article or mere punctuation. */
function addWords(piece: string, letters: boolean, words: string[]): void {
  if (letters && !piece.startsWith('inf')) {
    if (!isArticle(piece)) words.push(piece)
    return
  }
  const number = readTatqaNumber(piece)
  if (number !== undefined) {
    words.push(valueText(number))
    return
  }
  const bare = piece.replace(punctuation, '')
  const uncovered = bare === piece ? undefined : readTatqaNumber(bare)
  if (uncovered !== undefined) words.push(valueText(uncovered))
  else if (/^[a-z0-9]+$/.test(bare)) {
    if (!isArticle(bare)) words.push(bare)
  } else for (const word of pythonSplit(bare.replace(article, ' '))) words.push(word)
}

function valueText(value: PythonNumber | null): string {
  if (value === null) return 'None'
  return typeof value === 'bigint' ? value.toString() : pythonFloatText(value)
}

function isArticle(word: string): boolean {
  return word === 'a' || word === 'an' || word === 'the'
}

// Python's \b: letters and numbers of every script, and the underscore.
const article = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu
