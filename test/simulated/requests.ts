import type { NodePart } from '../../src/execution/packet.ts'
import { protocolVersion } from '../../src/execution/protocol/response.ts'
import { taskView } from '../../src/execution/text.ts'
import type { AnswerContract } from '../../src/library/answer-contract.ts'
import type { JsonObject, JsonValue } from '../../src/library/json-value.ts'
import type { Task } from '../../src/library/task.ts'
import { type ChatRequest, paperDecoding } from '../../src/models/chat-model.ts'

export interface Asking {
  readonly part?: NodePart
  readonly role?: string
  readonly executor?: string
  readonly tools?: readonly string[]
  readonly predecessors?: readonly JsonObject[]
  /** The result of the node's earlier call. */
  readonly turn?: JsonObject
}

/** A node's user message in the executor's format. */
export function userMessage(task: Task, contract: AnswerContract, asking: Asking = {}): string {
  const { part = 'atomic', role = 'independent_solver', executor = role, tools = [] } = asking
  return JSON.stringify({
    protocol: protocolVersion,
    executor: { id: executor, role, part },
    task: taskView(task),
    answer_requirement: `${contract.requirement} Its form, for example: ${JSON.stringify(contract.example)}`,
    ...(part === 'direct' ? {} : { predecessors: asking.predecessors ?? [] }),
    ...(tools.length === 0 ? {} : { tools: tools.map((name) => ({ name, description: '' })) }),
    ...asking.turn,
  })
}

export function requestOf(user: string): ChatRequest {
  return { system: 'You are one of several agents.', user, decoding: paperDecoding }
}

/** A predecessor's message. */
export function message(role: string, answer: JsonValue, more: JsonObject = {}): JsonObject {
  const status = answer === null ? 'null_answer' : 'ok'
  return {
    id: `${role}-1`,
    role,
    granularity: 'atomic',
    status,
    analysis: `${role} says so.`,
    answer,
    ...more,
  }
}
