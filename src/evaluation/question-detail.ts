import { existsSync } from 'node:fs'
import { type Trace, tracedRequest } from '../execution/trace/trace.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { RunError, type RunFolder } from '../store/run-folder.ts'
import { hasLedger, openRunLedger } from '../store/run-ledger.ts'
import {
  evaluationLabels,
  type KeptEvaluation,
  keptEvaluations,
  latestEvaluations,
} from './compare-evaluations.ts'
import { tracesFile } from './evaluate.ts'
import type { AskedQuestion, QuestionRecord } from './organisation-report.ts'

/** One question in full: what was asked, expected and answered, the graph, and every request and reply. */
export interface QuestionDetail {
  readonly run: string
  /** The organisation's label within the run; `training` for training questions. */
  readonly organisation: string
  readonly split: string
  /** As `provider/model`. */
  readonly model: string
  readonly record: QuestionRecord
  /** Node by node. Absent if no trace was kept. */
  readonly transcript?: Transcript
  /** How many graphs training tried on this question; the newest one is shown. */
  readonly tried?: number
}

export type Transcript = ReturnType<typeof transcriptOf>

/** Used as the organisation's name for training questions. */
const training = 'training'

/** Looks up a question in the task set, for records that do not contain it. */
export type AskedIn = (split: string, task: string) => Promise<AskedQuestion | undefined>

/** What a run has stored about a question: the latest answer of each organisation, and the newest of training. */
export async function questionDetails(
  folder: RunFolder,
  task: string,
  { organisation, split, asked }: { organisation?: string; split?: string; asked?: AskedIn } = {},
): Promise<QuestionDetail[]> {
  const { name } = folder.readRecord()
  const kept = latestEvaluations(keptEvaluations(folder, name))
  const labels = evaluationLabels(kept)
  const isWanted = (label: string, called: string) =>
    organisation === undefined ||
    [label, called].some((one) => one === organisation || one.endsWith(`, ${organisation}`))
  const evaluated = kept.flatMap((evaluation, position) => {
    const { header, report } = evaluation
    const record = report.records.find((one) => one.task === task)
    const fits = isWanted(labels[position]!, header.organisation) && (split ?? header.split) === header.split
    return record === undefined || !fits ? [] : [{ evaluation, record, label: labels[position]! }]
  })
  const details = await Promise.all(
    evaluated.map(({ evaluation, record, label }) => detailOf(evaluation, record, label)),
  )
  // A remote ledger need not be reachable unless the question is a training question.
  const mayBeLearned =
    !existsSync(folder.ledgerPlaceFile) || folder.readMembership().splits['train']?.includes(task)
  if (mayBeLearned && isWanted(training, training) && (split ?? 'train') === 'train')
    details.push(...(await trained(folder, task)))
  if (details.length === 0) throw unknownQuestion(folder, task, { organisation, split }, labels)
  return Promise.all(details.map((detail) => withQuestion(detail, asked)))
}

/** A record of an evaluation with its transcript. */
export async function detailOf(
  { run, folder, header }: KeptEvaluation,
  record: QuestionRecord,
  label: string,
): Promise<QuestionDetail> {
  const traces = tracesFile(folder)
  const trace = await withLedger(
    existsSync(traces),
    () => SqliteLedger.open(traces, { readOnly: true }),
    (ledger) => ledger.findTrace(record.execution),
  )
  const { split, model } = header
  return { run, organisation: label, split, model, record, transcript: trace && transcriptOf(trace) }
}

async function trained(folder: RunFolder, task: string): Promise<QuestionDetail[]> {
  const { name: run, model } = folder.readRecord()
  const detail = await withLedger(
    hasLedger(folder),
    () => openRunLedger(folder, { readOnly: true }),
    async (ledger) => {
      const all = await ledger.evaluationsOf(task)
      const last = all.at(-1)
      const trace = last && (await ledger.findTrace(last.evaluation.execution))
      if (last === undefined || trace === undefined) return undefined
      const record = { ...last.evaluation, task, graph: trace.graph, graphKey: last.key.graph }
      return {
        run,
        organisation: training,
        split: 'train',
        model: `${model.provider}/${model.model}`,
        record,
        transcript: transcriptOf(trace),
        tried: all.length,
      }
    },
  )
  return detail === undefined ? [] : [detail]
}

async function withQuestion(detail: QuestionDetail, asked: AskedIn | undefined): Promise<QuestionDetail> {
  const { record, split } = detail
  if (record.question !== undefined) return detail
  return { ...detail, record: { ...(await asked?.(split, record.task)), ...record } }
}

async function withLedger<Found>(
  isThere: boolean,
  open: () => Promise<Ledger>,
  read: (ledger: Ledger) => Promise<Found>,
): Promise<Found | undefined> {
  if (!isThere) return undefined
  await using ledger = await open()
  return await read(ledger)
}

/** Every node with its requests and replies, in graph order. Texts are absent if the run keeps no content. */
export function transcriptOf(trace: Trace) {
  return trace.nodes.map(({ calls, ...node }) => ({
    ...node,
    calls: calls.map(({ request, ...call }) => ({
      ...(trace.texts[request.system] === undefined ? {} : tracedRequest(trace, { request })),
      ...call,
    })),
  }))
}

function unknownQuestion(
  folder: RunFolder,
  task: string,
  { organisation, split }: { readonly organisation?: string; readonly split?: string },
  labels: readonly string[],
): RunError {
  const { name } = folder.readRecord()
  const { splits } = folder.readMembership()
  const home = Object.keys(splits).find((one) => splits[one]!.includes(task))
  const shown = `'${task.slice(0, 80)}'`
  if (home === undefined) {
    const some = Object.entries(splits).map(([one, ids]) => `${one}: ${ids.slice(0, 3).join(', ')} …`)
    return new RunError(`The run ${name} has no question ${shown}. Some of its questions: ${some.join('; ')}`)
  }
  const wanted = [organisation && `by '${organisation}'`, split && `on '${split}'`].filter(Boolean).join(' ')
  const there = labels.length === 0 ? 'no evaluation' : `evaluations of ${labels.join(', ')}`
  return new RunError(
    `The run ${name} has no stored answer to the ${home} question ${shown}${wanted === '' ? '' : ` ${wanted}`}. It has ${there}. Make one: \`magic eval ${name} --split ${home}\`.`,
  )
}
