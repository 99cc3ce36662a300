import { type Look, ValueModel, worthOn } from './value-model.ts'

/**
 * How much the traits of questions help predict which graphs do well on them: the fall in squared error per question,
 * with its standard error, by cross-validation. Predictions are relative to the other looks at the same question,
 * since nobody can know beforehand how hard it is. All looks count, not only those of confirmed graphs, so this shows
 * an effect far sooner than the scores of the chosen graphs would.
 */
export function traitBenefit(
  looks: readonly Look[],
  traits: readonly Float64Array[],
  leftOut: readonly ReadonlySet<number>[],
): { readonly better: number; readonly error: number } {
  const atQuestion = Map.groupBy(looks, ({ question }) => question)
  const better: number[] = []
  for (const questions of leftOut) {
    const model = new ValueModel(
      traits,
      looks.filter(({ question }) => !questions.has(question)),
    )
    const weights = model.weights()
    for (const question of questions) {
      const seen = atQuestion.get(question) ?? []
      const scores = seen.map(({ score }) => score)
      const worths = seen.map(({ graph }) => model.worth(weights, model.describe(graph)))
      const without = squaredError(
        scores,
        worths.map((worth) => worth[0]!),
      )
      const withTraits = squaredError(
        scores,
        worths.map((worth) => worthOn(worth, traits[question]!)),
      )
      better.push(without - withTraits)
    }
  }
  const mean = meanOf(better)
  const variance = meanOf(better.map((one) => (one - mean) ** 2))
  return { better: mean, error: Math.sqrt(variance / Math.max(1, better.length - 1)) }
}

/** Squared error after both sides are centred. */
function squaredError(scores: readonly number[], told: readonly number[]): number {
  const offset = meanOf(scores) - meanOf(told)
  return scores.reduce((sum, score, index) => sum + (score - told[index]! - offset) ** 2, 0)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
