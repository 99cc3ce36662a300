import { type Look, ValueModel, worthOn } from './value-model.ts'

/**
 * Whether traits of the questions tell which graphs do well on them. On questions that are left out of the values in turn, every look
 * there is foretold with and without the traits, relative to the other looks at that question: how hard it is nobody can know
 * before. Gives by how much the squared error falls per question, with the standard error of that. All looks count, not only
 * those at graphs that were run on all questions, so this tells far sooner than scores of the chosen graphs would.
 */
export function foretold(
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

/** Of what was foretold, apart from the mean of both. */
function squaredError(scores: readonly number[], told: readonly number[]): number {
  const offset = meanOf(scores) - meanOf(told)
  return scores.reduce((sum, score, index) => sum + (score - told[index]! - offset) ** 2, 0)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
