import type { Budgets } from '../settings/execution.ts'
import { boundedString, boundedValue } from './length-budget.ts'
import type { Packet } from './packet.ts'
import type { Text } from './text.ts'

/**
 * What of a packet reaches its successors, as JSON text. The reason of a failure stays behind: it may quote a server, and
 * the status says enough.
 */
export function projectPacket(packet: Packet, budgets: Budgets): string {
  const { name, role, granularity, status, analysis, answer, toolObservation } = packet
  const said =
    `{"id":"${name}","role":"${role}","granularity":"${granularity}","status":"${status}"` +
    `,"analysis":${analysis === null ? 'null' : boundedString(analysis, budgets.analysis)}` +
    `,"answer":${answer === null ? 'null' : boundedValue(answer, budgets.answer)}`
  return toolObservation === undefined
    ? `${said}}`
    : `${said},"tool_observation":${JSON.stringify(toolObservation)}}`
}

/** The same message under another id, for one of several predecessors that share a name. */
export function renamed(message: string, name: string, id: string): string {
  return `{"id":"${id}"${message.slice(`{"id":"${name}"`.length)}`
}

/** The message that the same predecessor would have sent had its model failed. */
export function asFailed({ key, text }: Text): Text {
  const { id, role, granularity } = JSON.parse(text) as Record<string, string>
  const failed = { id, role, granularity, status: 'model_failure', analysis: null, answer: null }
  return { key, text: JSON.stringify(failed) }
}
