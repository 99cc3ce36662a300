import type { Execution } from '../../execution/execution.ts'
import { isRefusal } from '../../models/failure.ts'
import { exitCode } from '../../problem.ts'
import { isSettled } from '../../store/ledger/evaluation.ts'
import { type Lines, shownText } from '../display/screen.ts'
import { counted, printable } from '../display/terminal-text.ts'
import { printAside } from '../print.ts'
import { costText } from './evaluation-table.ts'

/** Prints the answer to standard output; usage, failures and a remark to standard error. */
export function printExecution(execution: Execution, isSimulated: boolean, remark?: Lines): void {
  const { status, answer, stop, usage, cost, durationMs } = execution
  const tokens = `${usage.input} + ${usage.output} tokens`
  const retries = usage.attempts - usage.calls
  const summary = [
    `${status} in ${(durationMs / 1000).toFixed(1)} s`,
    counted(usage.calls, 'call') + (retries > 0 ? ` and ${counted(retries, 'retry', 'retries')}` : ''),
    tokens,
    costText(cost, isSimulated),
  ].join(', ')
  printAside(() => {
    return [
      '',
      stop && shownText(`stopped: ${stop.message}`),
      failureLines(execution).map(shownText),
      summary,
      warningLines(execution),
      isSimulated && answer !== undefined && 'The answer is simulated: no language model was called.',
      remark,
    ]
  })
  if (answer === undefined) return
  process.stdout.write(`${printable(typeof answer === 'string' ? answer : JSON.stringify(answer))}\n`)
}

/** Signs that token counts are wrong or settings were ignored. */
function warningLines({ trace, usage: { unknown } }: Execution): Lines {
  const attempts = trace.nodes.flatMap(({ calls }) => calls.flatMap((call) => call.attempts))
  const warnings = attempts.flatMap((attempt) => (attempt.ok ? attempt.warnings : []))
  const thoughts = warnings.filter((warning) => warning === 'thinking').length
  return [
    unknown > 0 && `Token counts are too low: the server sent none for ${counted(unknown, 'attempt')}.`,
    warnings.includes('usage_constant') &&
      'Token counts are doubtful: the server always sends the same numbers.',
    thoughts > 0 && `The model was thinking in ${counted(thoughts, 'call')} although thinking is off.`,
  ]
}

/** One line per kind of failure. Skips nodes that were merely aborted. */
function failureLines({ failures }: Execution): string[] {
  const failed = failures.filter(({ status }) => status !== 'aborted')
  const alike = Map.groupBy(failed, ({ status, reason }) =>
    reason === undefined ? status : `${status} (${reason})`,
  )
  return [...alike].map(([problem, nodes]) => {
    const who = nodes.length <= 3 ? nodes.map(({ executor }) => executor).join(', ') : `${nodes.length} nodes`
    const remedy = problem.startsWith('model_failure')
      ? '; check the endpoint with `magic doctor` and the same flags'
      : ''
    return `${who}: ${problem}${remedy}`
  })
}

export function executionCode({ status, stop, trace }: Execution): number {
  if (status === 'answered') return exitCode.done
  if (status === 'aborted') return exitCode.interrupted
  if (stop !== undefined) return isRefusal(stop.kind) ? exitCode.refused : exitCode.unavailable
  // A request missing from the recording will be missing next time, too.
  const isUnrecorded = trace.nodes.some(({ calls }) => calls.at(-1)?.failure === 'not_recorded')
  const isGone = status === 'unanswered' && !isSettled(trace) && !isUnrecorded
  return isGone ? exitCode.unavailable : exitCode.failed
}
