import type { TatqaReference } from '../src/tasks/scoring/reference.ts'
import { measureTatqa, noMeasures, type TatqaAnswer } from '../src/tasks/scoring/tatqa.ts'

/** The overall figures of the official evaluation. A question without a prediction counts as zero in all of them. */
export interface TatqaOverall {
  readonly questions: number
  readonly missing_predictions: number
  readonly em: number
  readonly f1: number
  readonly scale: number
  readonly sum_em: number
  readonly sum_f1: number
}

export function aggregateTatqa(
  rows: Iterable<readonly [TatqaReference, TatqaAnswer | undefined]>,
): TatqaOverall {
  let questions = 0
  let missing = 0
  const sum = { em: 0, f1: 0, scale: 0 }
  for (const [reference, answer] of rows) {
    questions += 1
    if (answer === undefined) missing += 1
    const { em, f1, scale_em } = answer === undefined ? noMeasures : measureTatqa(answer, reference)
    sum.em += em
    sum.f1 += f1
    sum.scale += scale_em
  }
  const mean = (total: number) => (questions === 0 ? 0 : total / questions)
  return {
    questions,
    missing_predictions: missing,
    em: mean(sum.em),
    f1: mean(sum.f1),
    scale: mean(sum.scale),
    sum_em: sum.em,
    sum_f1: sum.f1,
  }
}
