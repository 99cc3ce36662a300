import { basename } from 'node:path'
import { detectableAmong } from '../../evaluation/compare-organisations.ts'
import { matchedRows } from '../../experiments/measures/matched-tokens.ts'
import { exitCode } from '../../problem.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { percent, tokens } from '../display/numbers.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import type { EvaluationsOutcome } from '../evaluate-all.ts'
import type { Job } from '../job.ts'
import { printAside, printResult } from '../print.ts'
import { evaluationLines } from './evaluation-table.ts'
import { matchedTable } from './matched-table.ts'

interface ShownEvaluations {
  readonly split: string
  /** The least score that the first organisation must have. */
  readonly threshold?: number
  readonly workers?: boolean
  readonly json: boolean
}

/** Prints what `magic eval` found, and returns its exit code. */
export function printEvaluations(
  { evaluated, missing, ended, used }: EvaluationsOutcome,
  { set, isSimulated }: Job,
  folder: RunFolder,
  { split, threshold, workers, json }: ShownEvaluations,
): number {
  const [first, last] = [evaluated[0], evaluated.at(-1)]
  // Unknown while the first evaluation is incomplete.
  const passed = threshold !== undefined && first?.complete ? first.score.mean >= threshold : undefined
  const rows = evaluated.map((report) => ({ label: report.organisation, report, isSimulated }))
  const matched = matchedRows(rows)
  printResult(
    { json },
    {
      ...{ run: folder.readRecord().name, split, metric: set.metric, simulated: isSimulated },
      ...{ ended, missing, used, threshold, passed: threshold === undefined ? undefined : (passed ?? null) },
      detectable: evaluated.length === 0 ? null : detectableAmong(evaluated),
      matched,
      evaluations: evaluated.map(({ records: _, ...summary }) => summary),
    },
    (screen) =>
      rows.length > 0 && [
        ['', evaluationLines(rows, set.metric, screen)],
        matched.length > 0 && ['', 'At matched tokens:', tableLines(matchedTable(matched), screen)],
      ],
  )
  const kept = evaluated.map((one) => basename(one.folder!)).join(', ')
  const where =
    last?.complete === false ? ` after ${last.n} of ${last.total} questions of ${last.organisation}` : ''
  const rest = missing.length === 0 ? '' : ` Not evaluated: ${missing.join(', ')}.`
  const spent = `${counted(used.calls, 'call')} and ${tokens(used.tokens)} tokens`
  printAside(() => [
    !json && kept !== '' && ['', `Records: ${kept} in ${folder.evaluationsFolder}`],
    ended === 'cap' &&
      `Stopped at a cap${where}, after ${spent}; ${workers ? 'answers received are kept' : 'running questions were finished'}.${rest} Repeat the command to continue; raise the cap if needed.`,
    ended === 'interrupted' && `Interrupted${where}.${rest} Repeat the command to continue.`,
    passed === false &&
      `Below the threshold: ${first!.organisation} scored ${percent(first!.score.mean)}, required is ${percent(threshold!)}.`,
  ])
  if (ended !== 'done') return ended === 'cap' ? exitCode.capReached : exitCode.interrupted
  return passed === false ? exitCode.belowThreshold : exitCode.done
}
