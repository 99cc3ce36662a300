import { evaluationLabels, type KeptEvaluation } from '../evaluation/compare-evaluations.ts'
import type { QuestionRecord } from '../evaluation/organisation-report.ts'
import { detailOf, type QuestionDetail, questionDetails } from '../evaluation/question-detail.ts'
import { meanOf } from '../evaluation/statistics.ts'
import type { JsonValue } from '../library/json-value.ts'
import { tokensIn } from '../models/usage.ts'
import { Problem } from '../problem.ts'
import type { TrajectoryRecord } from '../training/update-record.ts'
import { commonGraphs } from './built-graphs.ts'
import type { FollowedRun } from './followed-run.ts'
import { lineEnds } from './line-ends.ts'
import { UnknownError } from './run-shelf.ts'
import type { RunTasks } from './run-tasks.ts'

/** Characters of a question in a list; its own page shows all of it. */
const shownQuestion = 240
/** Characters of an answer that are sent; a model may answer with megabytes. */
const shownAnswer = 64_000

/** Used in place of an organisation's name for questions in training. */
const training = 'training'

export type QuestionList = ReturnType<typeof questionList>

/** The questions that were evaluated or trained on, with every organisation's score. */
export function questionList(run: FollowedRun, { questions, problem }: RunTasks) {
  const { evaluations } = run
  const labels = evaluationLabels(evaluations)
  const byTask = evaluations.map(recordsByTask)
  const trained = trainingScores(run)
  const tasks = new Set([...byTask.flatMap((records) => [...records.keys()]), ...trained.keys()])
  return {
    /** The last one is `training`: each question's score when it was last trained on. */
    organisations: [...labels, ...(trained.size > 0 ? [training] : [])],
    problem,
    rows: [...tasks].map((task) => {
      const known = questions.get(task)
      const records = byTask.map((one) => one.get(task))
      const question =
        records.find((record) => record?.question !== undefined)?.question ?? known?.task.question
      const scores = [
        ...records.map((record) => record?.score),
        ...(trained.size > 0 ? [trained.get(task)] : []),
      ]
      return {
        task,
        kind: known?.kind,
        question: question?.slice(0, shownQuestion),
        /** In the order of the organisations; null if one was not asked. */
        scores: scores.map((score) => score ?? null),
      }
    }),
  }
}

export type ShownQuestion = Awaited<ReturnType<typeof shownQuestionOf>>

/** A question with every organisation's answer. */
export async function shownQuestionOf(run: FollowedRun, { questions, problem }: RunTasks, task: string) {
  const details: ShownAnswer[] = [
    ...answersOf(run, task).map(({ label, record }) => answerOf(label, record)),
    ...(await trainingDetail(run, task)).map(({ record, tried }) => ({
      ...answerOf(training, record),
      tried,
    })),
  ]
  const known = questions.get(task)
  if (known === undefined && details.length === 0) throw new UnknownError('The run has no such question.')
  const asked = answersOf(run, task).find(({ record }) => record.question !== undefined)?.record
  const expected = asked?.expected ?? known?.expected
  return {
    task,
    metric: run.record.tasks.metric,
    kind: known?.kind,
    split: known?.split,
    /** Why the question's text may be missing. */
    problem: known === undefined ? problem : undefined,
    question: asked?.question ?? known?.task.question,
    options: asked?.options ?? known?.task.options,
    context: known?.task.context,
    tables: known?.task.tables,
    expected: expected === undefined ? undefined : shownValue(expected),
    answers: details,
  }
}

/** One organisation's answer with its requests and replies. */
export async function answerDetail(run: FollowedRun, task: string, label: string): Promise<QuestionDetail> {
  const evaluated = answersOf(run, task).find((one) => one.label === label)
  if (evaluated !== undefined) return detailOf(evaluated.evaluation, evaluated.record, label)
  const [trained] = label === training ? await trainingDetail(run, task) : []
  if (trained !== undefined) return trained
  throw new UnknownError('No organisation of that name was asked this question.')
}

/** One organisation's record of a question, with its evaluation. */
export function evaluatedAnswer(run: FollowedRun, task: string, label: string) {
  const found = answersOf(run, task).find((one) => one.label === label)
  if (found !== undefined) return found
  throw new UnknownError('The decisions can be replayed for evaluated questions only.')
}

function answersOf({ evaluations }: FollowedRun, task: string) {
  const labels = evaluationLabels(evaluations)
  return evaluations.flatMap((evaluation, position) => {
    const record = evaluation.report.records.find((one) => one.task === task)
    return record === undefined ? [] : [{ label: labels[position]!, evaluation, record }]
  })
}

/**
 * The last score of each training question. An update of the paper's method is about one question and records its mean; an
 * update by `values` is about many, whose scores are in the trajectories.
 */
function trainingScores({ folder, updates }: FollowedRun): ReadonlyMap<string, number> {
  const single = updates.flatMap(({ query, score }) =>
    query === undefined || score === null ? [] : [[query, score] as const],
  )
  if (single.length > 0 || updates.length === 0) return new Map(single)
  const { last } = lineEnds<TrajectoryRecord>(folder.trajectoriesFile, updates.length)
  return new Map(
    last.flatMap(({ trajectories, looks = [] }) => [
      ...trajectories.map(({ query, terminalScore }) => [query, terminalScore] as const),
      ...looks.map(({ task, score }) => [task, score] as const),
    ]),
  )
}

async function trainingDetail({ folder }: FollowedRun, task: string): Promise<QuestionDetail[]> {
  try {
    if (!folder.readMembership().splits['train']?.includes(task)) return []
    return await questionDetails(folder, task, { organisation: training, split: 'train' })
  } catch (error) {
    if (error instanceof Problem) return []
    throw error
  }
}

export type ShownAnswer = ReturnType<typeof answerOf> & {
  /** Number of graphs training tried on the question; this answer is from the last one. */
  readonly tried?: number
}

function answerOf(label: string, record: QuestionRecord) {
  const { score, parse, measures, program, status, failures, usage, cost, durationMs } = record
  return {
    ...{ label, score, parse, measures, program, status, failures, usage, cost, durationMs },
    answer: record.answer === undefined ? undefined : shownValue(record.answer),
    units: record.graph.units,
    graphKey: record.graphKey,
  }
}

/** A value as text, cut to what a page shows, with its full length. */
function shownValue(value: unknown): { text: string; length: number } {
  const text = typeof value === 'string' ? value : JSON.stringify(value as JsonValue, null, 2)
  return { text: text.slice(0, shownAnswer), length: text.length }
}

export type KindRow = ReturnType<typeof kindRows>[number]

/** The untrained and the trained policy by kind of question, on the questions that both answered. */
export function kindRows({ evaluations }: FollowedRun, { questions }: RunTasks) {
  const of = (name: string) => evaluations.findLast(({ header }) => header.organisation === name)
  const [before, after] = [of('untrained'), of('trained')]
  if (before === undefined || after === undefined) return []
  const later = recordsByTask(after)
  const pairs = before.report.records.flatMap((record) => {
    const kind = questions.get(record.task)?.kind
    const other = later.get(record.task)
    return kind === undefined || other === undefined ? [] : [{ kind, before: record, after: other }]
  })
  return [...Map.groupBy(pairs, ({ kind }) => kind)]
    .map(([kind, same]) => ({
      kind,
      questions: same.length,
      before: stageOf(same.map((pair) => pair.before)),
      after: stageOf(same.map((pair) => pair.after)),
    }))
    .toSorted((a, b) => a.kind.localeCompare(b.kind))
}

function stageOf(records: readonly QuestionRecord[]) {
  const graphs = commonGraphs(records)
  return {
    score: meanOf(records.map(({ score }) => score)),
    tokens: meanOf(records.map(({ usage }) => tokensIn(usage))),
    units: meanOf(records.map(({ graph }) => graph.units.length)),
    common: graphs[0]!,
    different: graphs.length,
  }
}

function recordsByTask({ report }: KeptEvaluation): Map<string, QuestionRecord> {
  return new Map(report.records.map((record) => [record.task, record]))
}
