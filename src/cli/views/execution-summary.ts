import type { Execution } from '../../execution/execution.ts'
import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import { isRefusal } from '../../models/failure.ts'
import type { Cost } from '../../models/prices.ts'
import type { Usage } from '../../models/usage.ts'
import { exitCode } from '../../problem.ts'
import { isSettled } from '../../store/ledger/evaluation.ts'
import { type Screen, screenOf, shownText, wrapText } from '../display/screen.ts'
import { counted, printable } from '../display/terminal-text.ts'

/** What an execution took and what went wrong in it, in lines for people. */
export function executionSummary(
  execution: Execution,
  simulated: boolean,
  screen: Screen = screenOf(process.stderr),
): string[] {
  const { status, answer, stop, usage, cost, failures, durationMs, trace } = execution
  const seconds = `${(durationMs / 1000).toFixed(1)} s`
  const tokens = `${usage.input} + ${usage.output} tokens`
  const lines = [
    ...(stop === undefined ? [] : [`stopped: ${stop.message}`]),
    ...describeFailures(failures),
    `${status} in ${seconds}, ${counted(usage.calls, 'call')}, ${tokens}, ${costText(cost, simulated)}`,
    ...describeWarnings(trace, usage),
    ...(simulated && answer !== undefined ? ['The answer is simulated: no language model was asked.'] : []),
  ]
  return lines.map((line) => wrapText(shownText(line, screen), screen))
}

/** Replies that make the token counts or the settings doubtful. */
function describeWarnings({ nodes }: Trace, { unknown }: Usage): string[] {
  const warned = new Map<string, number>()
  for (const { attempts } of nodes.flatMap(({ calls }) => calls)) {
    for (const attempt of attempts) {
      for (const warning of attempt.ok ? attempt.warnings : [])
        warned.set(warning, (warned.get(warning) ?? 0) + 1)
    }
  }
  const thought = warned.get('thinking')
  return [
    ...(unknown > 0
      ? [`The token counts are too low: the server sent none for ${counted(unknown, 'attempt')}.`]
      : []),
    ...(warned.has('usage_constant')
      ? ['The token counts are doubtful: the server always sends the same.']
      : []),
    ...(thought
      ? [`The model was thinking in ${counted(thought, 'call')} although thinking is switched off.`]
      : []),
  ]
}

/** One line per kind of failure. Nodes that were cut short by the end are left out. */
function describeFailures(failures: Execution['failures']): string[] {
  const alike = new Map<string, string[]>()
  for (const { executor, status, reason } of failures) {
    if (status === 'aborted') continue
    const problem = reason === undefined ? status : `${status} (${reason})`
    alike.set(problem, [...(alike.get(problem) ?? []), executor])
  }
  return [...alike].map(([problem, executors]) => {
    const who = executors.length <= 3 ? executors.join(', ') : `${executors.length} nodes`
    const remedy = problem.startsWith('model_failure')
      ? ' — `magic doctor` with the same flags checks the endpoint'
      : ''
    return `${who}: ${problem}${remedy}`
  })
}

function costText(cost: Cost, simulated: boolean): string {
  if (cost !== 'unpriced') return `${cost.amount.toFixed(6)} ${cost.currency}`
  return simulated ? 'free' : 'unpriced: the price table does not have this model'
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

/** An answer as it goes to standard output. */
export function answerText(answer: JsonValue): string {
  return printable(typeof answer === 'string' ? answer : JSON.stringify(answer))
}
