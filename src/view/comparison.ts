import { baseOf, compareEvaluations, evaluationLabels } from '../evaluation/compare-evaluations.ts'
import { matchedRows } from '../experiments/measures/matched-tokens.ts'
import { differingSettings } from '../store/differing-settings.ts'
import { evaluationRows } from './evaluation-rows.ts'
import type { FollowedRun } from './followed-run.ts'
import { frontierPositions } from './plots/pareto.ts'
import { UnknownError } from './run-shelf.ts'

const shownQuestion = 160

export type Comparison = ReturnType<typeof comparison>

/** Evaluations of one or several runs on the same questions, side by side. */
export function comparison(runs: readonly FollowedRun[], split: string, wanted: string | undefined) {
  const evaluations = runs.flatMap((run) => run.evaluations).filter(({ header }) => header.split === split)
  const splits = [...new Set(runs.flatMap((run) => run.evaluations.map(({ header }) => header.split)))]
  if (evaluations.length === 0)
    return {
      split,
      splits,
      metric: '',
      base: '',
      rows: [],
      matched: [],
      tasks: [],
      questions: [],
      scores: [],
      settings: [],
    }
  const labels = evaluationLabels(evaluations)
  if (wanted !== undefined && !labels.includes(wanted))
    throw new UnknownError('There is no evaluation of that name to compare with.')
  const base = baseOf(evaluations, wanted)
  const compared = compareEvaluations(evaluations, base)
  const shown = evaluationRows(evaluations)
  const tasks = [...new Set(evaluations.flatMap(({ report }) => report.records.map(({ task }) => task)))]
  const questions = new Map(
    evaluations.flatMap(({ report }) =>
      report.records.map(({ task, question }) => [task, question?.slice(0, shownQuestion)]),
    ),
  )
  const frontier = frontierPositions(shown.map(({ tokens, score }) => ({ x: tokens.total, y: score.mean })))
  return {
    split,
    splits,
    metric: runs[0]!.record.tasks.metric,
    base: labels[base]!,
    rows: shown.map((row, position) => ({
      ...row,
      against: compared[position]!.against,
      isOnFrontier: frontier.includes(position),
    })),
    /** What the tokens of each organisation buy without one, where self-consistency was evaluated. */
    matched: matchedRows(evaluations.map(({ report }, position) => ({ label: labels[position]!, report }))),
    /** `scores[evaluation][task]`, null where it was not asked. */
    tasks,
    questions: tasks.map((task) => questions.get(task) ?? null),
    scores: evaluations.map(({ report }) => {
      const scores = new Map(report.records.map(({ task, score }) => [task, score]))
      return tasks.map((task) => scores.get(task) ?? null)
    }),
    settings: differingSettings(
      runs.map(({ record: { training, execution } }) => ({ training, execution })),
    ).map(({ name, values }) => ({ name, values: values.map((value) => value ?? null) })),
  }
}
