import type { JsonObject, JsonValue } from '../library/json-value.ts'
import { boundedFields, boundedString, boundedValue, codePoints } from './length-budget.ts'
import { renamed } from './projection.ts'
import type { Budgets } from './settings.ts'
import type { Text } from './text.ts'

/**
 * A node's request. The user message is one JSON object, made of texts that nodes and executions share, so that none is
 * written twice: see `userMessage`.
 */
export interface NodeRequest {
  readonly system: Text
  /** Executor, task, answer requirement. */
  readonly opening: readonly Text[]
  readonly predecessors?: readonly Text[]
  /** Tools that can be asked for now; what an earlier call of this node brought about. */
  readonly closing: readonly Text[]
  readonly user: string
}

/** A predecessor's message and the name it goes by. */
export interface Message {
  readonly name: string
  readonly text: Text
}

/** What an earlier call of the same node brought about. */
export interface Turn {
  readonly toolRequest?: JsonObject
  readonly toolObservation?: JsonValue
  readonly repair?: { readonly problem: string; readonly previous: string }
  readonly concise?: boolean
}

export function userMessage({
  opening,
  predecessors,
  closing,
}: Omit<NodeRequest, 'system' | 'user'>): string {
  let message = ''
  for (const { text } of opening) message += text
  if (predecessors !== undefined) {
    message += ',"predecessors":['
    for (let index = 0; index < predecessors.length; index += 1)
      message += index === 0 ? predecessors[0]!.text : `,${predecessors[index]!.text}`
    message += ']'
  }
  for (const { text } of closing) message += text
  return `${message}}`
}

/**
 * Messages in the order of their names, whatever the order of the graph. Where several share a name, their content decides
 * and a counter tells them apart: that, too, depends on nothing but what is said.
 */
export function orderMessages(messages: readonly Message[]): Text[] {
  const ordered = [...messages].sort((a, b) => compare(a.name, b.name) || compare(a.text.text, b.text.text))
  let count = 1
  return ordered.map(({ name, text }, index) => {
    count = name === ordered[index - 1]?.name ? count + 1 : 1
    if (count === 1) return text
    return { key: `${text.key}#${count}`, text: renamed(text.text, name, `${name}#${count}`) }
  })
}

export function turnText(turn: Turn, key: string, budgets: Budgets): Text {
  let text = ''
  if (turn.toolRequest !== undefined)
    text += `,"tool_request":${boundedValue(turn.toolRequest, budgets.answer)}`
  if (turn.toolObservation !== undefined)
    text += `,"tool_observation":${JSON.stringify(turn.toolObservation)}`
  if (turn.repair !== undefined) {
    const { problem, previous } = turn.repair
    text += `,"repair":{"problem":${boundedString(problem, longestProblem)}`
    text += `,"previous":${boundedString(previous, budgets.answer)}}`
  }
  if (turn.concise === true) text += ',"concise":true'
  return { key, text }
}

const longestProblem = 1000

/** Cuts what is variable in a message that is too long: the longest texts of task, predecessors and turn. */
export function withinBudget(message: string, fixed: readonly Text[], budgets: Budgets): string | undefined {
  const { request } = budgets
  if (message.length <= request || codePoints(message) <= request) return undefined
  const { protocol, executor, answer_requirement, tools, ...variable } = JSON.parse(message) as JsonObject
  const kept = fixed.map(({ text }) => text).join('')
  return `${kept},${boundedFields(variable, request - codePoints(kept)).slice(1)}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
