import {
  baseOf,
  compareEvaluations,
  evaluationLabels,
  type KeptEvaluation,
} from '../evaluation/compare-evaluations.ts'
import { matchedRows } from '../experiments/measures/matched-tokens.ts'
import { Problem } from '../problem.ts'
import { differingSettings } from '../store/differing-settings.ts'
import { evaluationRows } from './evaluation-rows.ts'
import type { FollowedRun } from './followed-run.ts'
import { frontierPositions } from './plots/pareto.ts'
import { UnknownError } from './run-shelf.ts'

const shownQuestion = 160

export type Comparison = ReturnType<typeof comparison>

/** The evaluations of runs on a split, grouped by their questions: only those of the same ones can be compared. */
export function comparableEvaluations(runs: readonly FollowedRun[], split: string): KeptEvaluation[][] {
  const own = runs.flatMap((run) => run.evaluations).filter(({ header }) => header.split === split)
  return [...Map.groupBy(own, ({ header }) => header.data).values()]
}

/** Evaluations of one or several runs on the same questions, side by side; by default all on the split. */
export function comparison(
  runs: readonly FollowedRun[],
  split: string,
  wanted: string | undefined,
  evaluations: readonly KeptEvaluation[] = comparableEvaluations(runs, split).flat(),
) {
  const groups = [...Map.groupBy(evaluations, ({ header }) => header.data).values()]
  if (groups.length > 1)
    throw new Problem(
      `These runs were evaluated on different ${split} questions, so they cannot be compared. Choose runs with the same questions: ${groups.map((group) => [...new Set(group.map(({ run }) => run))].join(' and ')).join('; or ')}.`,
    )
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
    /** What self-consistency reaches with each organisation's tokens, where it was evaluated. */
    matched: matchedRows(evaluations.map(({ report }, position) => ({ label: labels[position]!, report }))),
    /** `scores[evaluation][task]` is null where the question was not asked. */
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
