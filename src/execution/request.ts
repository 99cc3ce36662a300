import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Budgets } from '../settings/execution.ts'
import type { ExecutionOptions } from './execution.ts'
import { boundedFields, boundedString, boundedValue, codePoints } from './length-budget.ts'
import { type Packet, renamed } from './packet.ts'
import type { PlannedNode } from './plan.ts'
import { requirementText, type Text, taskText } from './text.ts'

/**
 * The parts of a node's request. The user message is one JSON object, concatenated from texts that nodes and
 * executions share, so that each is made and traced only once.
 */
export interface RequestTexts {
  readonly system: Text
  /** Executor, task, answer requirement. */
  readonly opening: readonly Text[]
  /** Absent for the direct path. */
  readonly predecessors?: readonly Text[]
  /** The tools still available, then the results of earlier turns. */
  readonly closing: readonly Text[]
}

/** The results of the node's earlier calls. */
export interface Turn {
  readonly number: number
  readonly mayUseTool: boolean
  readonly toolRequest?: JsonObject
  readonly toolObservation?: JsonValue
  readonly repair?: { readonly problem: string; readonly previous: string }
  readonly concise?: boolean
}

export function nodeRequest(
  { id, system, head, toolsText, brief }: PlannedNode,
  predecessors: readonly Text[] | undefined,
  turn: Turn,
  { task, contract, settings }: Required<Pick<ExecutionOptions, 'task' | 'contract' | 'settings'>>,
): { texts: RequestTexts; user: string } {
  const { budgets } = settings
  const requirement = requirementText(contract)
  // What varies comes last: providers charge less for an unchanged prefix.
  const closing: Text[] = []
  if (turn.mayUseTool && toolsText !== undefined) closing.push(toolsText)
  const kept = [head, requirement, ...closing]
  if (brief !== undefined) closing.push(brief)
  if (turn.number > 0) closing.push(turnText(turn, `${id}:${turn.number}`, budgets))
  const texts = {
    system,
    opening: [head, taskText(task, budgets.task, settings.repeatStarterCode), requirement],
    predecessors,
    closing,
  }
  const user = userMessage(texts)
  if (user.length <= budgets.request || codePoints(user) <= budgets.request) return { texts, user }
  const shorter = shortened(user, kept, budgets.request)
  const whole = { key: `${id}:${turn.number}:request`, text: shorter.slice(0, -1) }
  return { texts: { system, opening: [whole], closing: [] }, user: shorter }
}

export function userMessage({ opening, predecessors, closing }: Omit<RequestTexts, 'system'>): string {
  let message = ''
  for (const { text } of opening) message += text
  if (predecessors !== undefined) {
    message += ',"predecessors":['
    let mark = ''
    for (const { text } of predecessors) {
      message += mark + text
      mark = ','
    }
    message += ']'
  }
  for (const { text } of closing) message += text
  return `${message}}`
}

/** A predecessor's message and name. */
export interface Message {
  readonly name: string
  readonly text: Text
  readonly packet: Packet
}

/**
 * Sorts messages by name, independently of the order in the graph. Messages that share a name are sorted by content
 * and numbered, so the result depends only on what was said.
 */
export function orderMessages(messages: readonly Pick<Message, 'name' | 'text'>[]): Text[] {
  const ordered = [...messages].sort((a, b) => compare(a.name, b.name) || compare(a.text.text, b.text.text))
  let count = 1
  return ordered.map(({ name, text }, index) => {
    count = name === ordered[index - 1]?.name ? count + 1 : 1
    if (count === 1) return text
    return { key: `${text.key}#${count}`, text: renamed(text.text, name, `${name}#${count}`) }
  })
}

const longestProblem = 1000

function turnText(
  { toolRequest, toolObservation, repair, concise }: Turn,
  key: string,
  budgets: Budgets,
): Text {
  let text = ''
  if (toolRequest !== undefined) text += `,"tool_request":${boundedValue(toolRequest, budgets.answer)}`
  if (toolObservation !== undefined) text += `,"tool_observation":${JSON.stringify(toolObservation)}`
  if (repair !== undefined) {
    text += `,"repair":{"problem":${boundedString(repair.problem, longestProblem)}`
    text += `,"previous":${boundedString(repair.previous, budgets.answer)}}`
  }
  if (concise === true) text += ',"concise":true'
  return { key, text }
}

/** Cuts the longest texts of task, predecessors and turn in a message that is too long. Our own parts stay whole. */
function shortened(message: string, kept: readonly Text[], budget: number): string {
  const { protocol, executor, answer_requirement, tools, ...variable } = JSON.parse(message) as JsonObject
  const ours = kept.map(({ text }) => text).join('')
  return `${ours},${boundedFields(variable, budget - codePoints(ours)).slice(1)}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
