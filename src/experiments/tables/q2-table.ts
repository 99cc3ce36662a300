import { meanOf } from '../../evaluation/statistics.ts'
import { Problem } from '../../problem.ts'
import { changeText, marks, percentChange, tokensText, twoDecimals } from '../measures/displayed.ts'

/** In the order of the paper's table. */
export const q2Variants = [
  'all-atomic',
  'all-group',
  'initialisation-only',
  'final-reward-only',
  'full',
] as const

export type Q2Variant = (typeof q2Variants)[number]

/** One variant's evaluation, per question. */
export interface VariantScores {
  readonly variant: string
  readonly scores: readonly number[]
  readonly input: readonly number[]
  readonly output: readonly number[]
}

/** Q2's table for one data set. */
export function q2Table(evaluated: readonly VariantScores[]) {
  const measured = q2Variants.map((variant) => totals(variant, evaluated))
  const questions = measured[0]!.questions
  if (measured.some((one) => one.questions !== questions))
    throw new Problem('The variants were not evaluated on the same questions.')
  const full = measured.at(-1)!
  const finalOnly = measured.find(({ variant }) => variant === 'final-reward-only')!
  const scoreMarks = marks(
    measured.map(({ score }) => score),
    true,
  )
  const tokenMarks = marks(
    measured.map(({ tokens }) => tokens),
    false,
  )
  return {
    questions,
    rows: measured.map(({ variant, score, tokens }, index) => {
      const scoreChange = variant === 'full' ? null : score - full.score
      const tokenChange = variant === 'full' ? null : percentChange(tokens, full.tokens)
      return {
        variant,
        score,
        scoreText: twoDecimals(score),
        scoreChange,
        scoreChangeText: scoreChange === null ? null : changeText(scoreChange),
        scoreMark: scoreMarks[index]!,
        tokens,
        tokensText: tokensText(tokens),
        tokenChange,
        tokenChangeText: tokenChange === null ? null : changeText(tokenChange, '%'),
        tokensMark: tokenMarks[index]!,
      }
    }),
    fullAgainstFinalRewardOnly: {
      score: full.score - finalOnly.score,
      tokens: percentChange(full.tokens, finalOnly.tokens),
    },
  }
}

function totals(variant: Q2Variant, evaluated: readonly VariantScores[]) {
  const own = evaluated.filter((one) => one.variant === variant)
  if (own.length !== 1)
    throw new Problem(`Q2 needs one evaluation of the variant '${variant}'; there are ${own.length}.`)
  const { scores, input, output } = own[0]!
  const questions = scores.length
  if (questions === 0) throw new Problem(`The variant '${variant}' was evaluated on no question.`)
  if (input.length !== questions || output.length !== questions)
    throw new Problem(`The variant '${variant}' has scores and tokens for different questions.`)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return { variant, questions, score: meanOf(scores) * 100, tokens: sum(input) + sum(output) }
}
