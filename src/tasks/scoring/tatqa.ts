import { valuesAndScale } from '../../library/answer-contract.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { invalidAnswer, type Score } from '../../library/score.ts'
import { numpyRound } from '../../python/float.ts'
import type { TatqaReference } from './reference.ts'
import { ScorerOverflow } from './tatqa-number.ts'
import { normalizeTatqa, predictedTexts, tatqaText } from './tatqa-text.ts'

/** An answer to a TAT-QA question: spans, or a single number, and their scale. */
export interface TatqaAnswer {
  readonly values: readonly string[]
  readonly scale: string
}

export interface TatqaMeasures {
  readonly em: number
  readonly f1: number
  readonly scale_em: number
}

export const noMeasures: TatqaMeasures = { em: 0, f1: 0, scale_em: 0 }

/** The official F1, with EM and scale match as further measures. */
export function scoreTatqa(answer: unknown, reference: TatqaReference): Score {
  if (!isTatqaAnswer(answer)) return { ...invalidAnswer, measures: { ...noMeasures } }
  const measures = measureTatqa(answer, reference)
  return { score: measures.f1, parse: 'ok', measures: { ...measures } }
}

/** Whether the contract allows this answer: at least one value, all strings, and one of the five scales. */
function isTatqaAnswer(answer: unknown): answer is TatqaAnswer {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return false
  return valuesAndScale.check(answer as JsonObject).verdict === 'fits'
}

/** The result of the official scorer (commit 870accc4), even for answers the contract would refuse. */
export function measureTatqa(answer: TatqaAnswer, reference: TatqaReference): TatqaMeasures {
  if (answer.values.length === 0) return noMeasures
  try {
    const [first, second] = predictedTexts(answer.values, answer.scale)
    const scale_em = answer.scale === reference.scale ? 1 : 0
    const gold = normalizeTatqa(tatqaText(reference.answers, reference.scale))
    const candidates = [normalizeTatqa(first)]
    if (second !== undefined && second !== first) candidates.push(normalizeTatqa(second))
    if (candidates.some((candidate) => sameWords(candidate, gold))) return { em: 1, f1: 1, scale_em }
    const exactOnly = reference.answerType === 'arithmetic' || reference.answerType === 'count'
    const f1 = exactOnly ? 0 : Math.max(...candidates.map((candidate) => wordF1(candidate, gold)))
    return { em: 0, f1, scale_em }
  } catch (error) {
    if (error instanceof ScorerOverflow) return noMeasures
    throw error
  }
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}

/** Over sets: a repeated word counts once. */
function wordF1(predicted: readonly string[], gold: readonly string[]): number {
  const goldWords = new Set(gold)
  const predictedWords = new Set(predicted)
  let common = 0
  for (const word of predictedWords) if (goldWords.has(word)) common += 1
  const precision = predictedWords.size === 0 ? 1 : common / predictedWords.size
  const recall = goldWords.size === 0 ? 1 : common / goldWords.size
  if (precision === 0 && recall === 0) return 0
  return numpyRound((2 * precision * recall) / (precision + recall), 2)
}
