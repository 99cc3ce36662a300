import type { QuestionDetail, Transcript } from '../../evaluation/question-detail.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import type { JsonValue } from '../../library/json-value.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import { duration } from '../display/numbers.ts'
import { graphLines, type Lines, type Screen, shownText, wrapText } from '../display/screen.ts'
import { counted, printable } from '../display/terminal-text.ts'
import { costText, simulatedNote } from './evaluation-table.ts'

/** A text may be a megabyte, which nobody reads in a terminal. */
const longestText = 6000

/** One question: expected and given answers, graph, and the transcript. */
export function questionLines(details: readonly QuestionDetail[], screen: Screen): Lines {
  const { record } = details[0]!
  return [
    screen.paint('bold', shownText(`Question ${record.task}`.slice(0, 200))),
    askedLines(record, screen),
    details.map((detail) => {
      const { transcript } = detail
      return [
        '',
        answerLines(detail, screen),
        transcript === undefined && ['', '(no transcript was stored)'],
        transcriptLines(transcript, screen),
      ]
    }),
    details.some(({ model }) => isSimulatedModel(model)) && ['', simulatedNote],
  ]
}

/** The question with its options and expected answer. */
export function askedLines(
  { question, options = [], expected }: QuestionDetail['record'],
  screen: Screen,
): Lines[] {
  return [
    block(question ?? '(the question was not stored, and the task set is gone)', screen),
    options.map(({ label, text }) => block(`${label}: ${text}`, screen, '    ')),
    '',
    labelled('expected', expected === undefined ? '(unknown)' : valueText(expected), screen),
  ]
}

/** One organisation's answer. */
export function answerLines(detail: QuestionDetail, screen: Screen): Lines[] {
  const { organisation, split, record, tried } = detail
  const { answer, status, failures, score, parse, usage, cost, durationMs } = record
  const isSimulated = isSimulatedModel(detail.model)
  const tokens = `${usage.input} + ${usage.output} tokens`
  const retries = usage.attempts - usage.calls
  return [
    screen.paint('bold', shownText(`${organisation}, ${split}`)),
    labelled('given', answer === undefined ? `(none: ${status})` : valueText(answer), screen),
    labelled('score', `${score.toFixed(2)}${scoreReason(record)}`, screen),
    labelled(
      'took',
      `${duration(durationMs)}, ${counted(usage.calls, 'call')}${retries > 0 ? ` and ${counted(retries, 'retry', 'retries')}` : ''}, ${tokens}, ${costText(cost, isSimulated)}`,
      screen,
    ),
    parse === 'invalid' &&
      answer !== undefined &&
      labelled('parse', 'does not have the required form', screen),
    record.judge && labelled('judge', record.judge.reason, screen),
    failures.map(({ node, status: how, reason }) =>
      labelled('failed', `${node}: ${how}${reason === undefined ? '' : ` (${reason})`}`, screen),
    ),
    tried !== undefined &&
      tried > 1 &&
      labelled('graphs', `${tried} tried in training; this is the newest`, screen),
    '',
    graphLines(AgentGraph.from(record.graph), screen),
  ]
}

/** Every request and reply, node by node. */
export function transcriptLines(transcript: Transcript | undefined, screen: Screen): Lines {
  return transcript?.map((node) => ['', nodeLines(node, screen)])
}

function scoreReason({ measures = {}, program }: QuestionDetail['record']): string {
  const parts = Object.entries(measures).map(([name, value]) => `${name} ${value.toFixed(2)}`)
  if (program !== undefined) parts.push(`tests: ${program}`)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function nodeLines(node: Transcript[number], screen: Screen): Lines[] {
  const { node: id, executor, role, part, status, reason, calls, tool } = node
  const who = [executor, role !== executor && role, part].filter(Boolean).join(', ')
  const how = `${status}${reason === undefined ? '' : `: ${reason}`}`
  return [
    screen.paint('bold', shownText(`── ${id} (${who}) ${how}, ${duration(node.durationMs)}`)),
    calls.map(({ system, user, reply, failure, attempts, reused }, index) => [
      system !== undefined && [screen.paint('dim', '  system'), block(system, screen, '    ')],
      user !== undefined && [screen.paint('dim', '  request'), block(user, screen, '    ')],
      screen.paint(
        'dim',
        `  reply${attempts.length > 1 ? `, after ${attempts.length} attempts` : ''}${reused ? ', reused' : ''}`,
      ),
      block(reply ?? `(none: ${failure ?? 'not stored'})`, screen, '    '),
      index === 0 && tool !== undefined && toolLines(tool, screen),
    ]),
  ]
}

function toolLines(
  { tool, payload, observation }: NonNullable<Transcript[number]['tool']>,
  screen: Screen,
): Lines[] {
  return [
    screen.paint('dim', shownText(`  tool ${tool}`)),
    payload !== undefined && block(`asked: ${JSON.stringify(payload)}`, screen, '    '),
    observation !== undefined && block(`saw: ${JSON.stringify(observation)}`, screen, '    '),
  ]
}

function labelled(name: string, text: string, screen: Screen): string {
  return `  ${name.padEnd(8)}  ${shortened(text, screen, ' '.repeat(12))}`
}

/** Untrusted text, line by line, with control characters escaped. */
function block(text: string, screen: Screen, margin = '  '): string {
  return margin + shortened(text, screen, margin)
}

function shortened(text: string, screen: Screen, indent: string): string {
  const left = text.length - longestText
  const whole = left > 0 ? `${text.slice(0, longestText)} … (${left} more characters; --json has them)` : text
  const lines = printable(whole).split('\n')
  return lines.map((line) => wrapText(line, screen, indent)).join(`\n${indent}`)
}

export function valueText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
