import { join } from 'node:path'
import { type ComparedEvaluation, disagreements, type Listing } from '../../evaluation/compare-evaluations.ts'
import type { QuestionRecord } from '../../evaluation/organisation-report.ts'
import { type AskedIn, detailOf, type QuestionDetail } from '../../evaluation/question-detail.ts'
import { RunFolder } from '../../store/run-folder.ts'
import { type Lines, type Screen, shownText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'
import { askedIn } from '../job.ts'
import { answerLines, askedLines, transcriptLines } from './question-view.ts'

type ListedQuestions = Awaited<ReturnType<typeof listedQuestions>>[number]

/** The questions on which each evaluation and the base disagree, with both answers. */
export function listedQuestions(
  rows: readonly ComparedEvaluation[],
  base: number,
  list: Listing,
  withTranscript: boolean,
) {
  const sources = new Map<string, AskedIn>()
  const detail = async (
    { evaluation, label }: ComparedEvaluation,
    record: QuestionRecord,
  ): Promise<QuestionDetail> => {
    const { run, folder, header } = evaluation
    if (!sources.has(run)) sources.set(run, askedIn(new RunFolder(join(folder, '..', '..'))))
    const asked = record.question === undefined ? await sources.get(run)!(header.split, record.task) : {}
    const whole = { ...asked, ...record }
    if (withTranscript) return detailOf(evaluation, whole, label)
    return { run, organisation: label, split: header.split, model: header.model, record: whole }
  }
  return Promise.all(
    rows.toSpliced(base, 1).map(async (row) => {
      const questions = []
      for (const { task, outcome, own, base: other } of disagreements(row, rows[base]!, list))
        questions.push({
          task,
          outcome,
          answers: [await detail(row, own), await detail(rows[base]!, other)],
        })
      return { label: row.label, base: rows[base]!.label, list, withTranscript, questions }
    }),
  )
}

export function listLines(
  { label, base, list, withTranscript, questions }: ListedQuestions,
  screen: Screen,
): Lines {
  const outcome = list === 'both' ? 'won or lost' : list
  const title = `${label}: ${counted(questions.length, 'question')} ${outcome} against ${base}`
  return [
    screen.paint('bold', shownText(title)),
    questions.map(({ task, outcome: how, answers }) => [
      '',
      screen.paint('bold', shownText(`${how}: ${task}`)),
      askedLines(answers[0]!.record, screen),
      answers.map((answer) => ['', answerLines(answer, screen), transcriptLines(answer.transcript, screen)]),
    ]),
    questions.length > 0 &&
      !withTranscript && [
        '',
        'For every request and reply, add --transcript or use `magic show RUN --question ID`.',
      ],
  ]
}
