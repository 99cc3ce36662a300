import type { Execution } from '../../execution/execution.ts'
import { isRefusal } from '../../models/failure.ts'
import { exitCode } from '../../problem.ts'
import { isSettled } from '../../store/ledger/evaluation.ts'
import { shownText, wrapText } from '../display/screen.ts'
import { counted, printable } from '../display/terminal-text.ts'
import { printAside } from '../print.ts'
import { costText } from './evaluation-table.ts'

/** The answer on standard output; what it took, what went wrong and the remarks on standard error. */
export function printExecution(
  execution: Execution,
  isSimulated: boolean,
  remarks: readonly string[] = [],
): void {
  const { status, answer, stop, usage, cost, durationMs } = execution
  const tokens = `${usage.input} + ${usage.output} tokens`
  const lines = [
    '',
    ...(stop === undefined ? [] : [`stopped: ${stop.message}`]),
    ...failureLines(execution),
    `${status} in ${(durationMs / 1000).toFixed(1)} s, ${counted(usage.calls, 'call')}, ${tokens}, ${costText(cost, isSimulated)}`,
    ...warningLines(execution),
    ...(isSimulated && answer !== undefined ? ['The answer is simulated: no language model was asked.'] : []),
    ...remarks,
  ]
  printAside((screen) => lines.map((line) => wrapText(shownText(line), screen)))
  if (answer === undefined) return
  process.stdout.write(`${printable(typeof answer === 'string' ? answer : JSON.stringify(answer))}\n`)
}

/** Replies that make the token counts or the settings doubtful. */
function warningLines({ trace, usage }: Execution): string[] {
  const attempts = trace.nodes.flatMap(({ calls }) => calls.flatMap((call) => call.attempts))
  const warnings = attempts.flatMap((attempt) => (attempt.ok ? attempt.warnings : []))
  const thoughts = warnings.filter((warning) => warning === 'thinking').length
  const lines: string[] = []
  if (usage.unknown > 0)
    lines.push(`The token counts are too low: the server sent none for ${counted(usage.unknown, 'attempt')}.`)
  if (warnings.includes('usage_constant'))
    lines.push('The token counts are doubtful: the server always sends the same.')
  if (thoughts > 0)
    lines.push(`The model was thinking in ${counted(thoughts, 'call')} although thinking is switched off.`)
  return lines
}

/** One line per kind of failure. Nodes that were cut short by the end are left out. */
function failureLines({ failures }: Execution): string[] {
  const failed = failures.filter(({ status }) => status !== 'aborted')
  const alike = Map.groupBy(failed, ({ status, reason }) =>
    reason === undefined ? status : `${status} (${reason})`,
  )
  return [...alike].map(([problem, nodes]) => {
    const who = nodes.length <= 3 ? nodes.map(({ executor }) => executor).join(', ') : `${nodes.length} nodes`
    const remedy = problem.startsWith('model_failure')
      ? ' — `magic doctor` with the same flags checks the endpoint'
      : ''
    return `${who}: ${problem}${remedy}`
  })
}

export function executionCode({ status, stop, trace }: Execution): number {
  if (status === 'answered') return exitCode.done
  if (status === 'aborted') return exitCode.interrupted
  if (stop !== undefined) return isRefusal(stop.kind) ? exitCode.refused : exitCode.unavailable
  // A request that the recording lacks is not there the next time either.
  const isUnrecorded = trace.nodes.some(({ calls }) => calls.at(-1)?.failure === 'not_recorded')
  const isGone = status === 'unanswered' && !isSettled(trace) && !isUnrecorded
  return isGone ? exitCode.unavailable : exitCode.failed
}
