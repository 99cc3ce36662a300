import { evaluationLabels, type KeptEvaluation } from '../evaluation/compare-evaluations.ts'
import { isSimulatedModel } from '../simulator/model/simulated-name.ts'

export type EvaluationRow = ReturnType<typeof evaluationRows>[number]

/** Evaluations as tables and plots show them, without their records. */
export function evaluationRows(evaluations: readonly KeptEvaluation[]) {
  const labels = evaluationLabels(evaluations)
  return evaluations.map(({ run, header, report }, position) => {
    const { records: _, ...rest } = report
    return {
      label: labels[position]!,
      run,
      about: header.about,
      model: header.model,
      simulated: isSimulatedModel(header.model),
      ...rest,
    }
  })
}
