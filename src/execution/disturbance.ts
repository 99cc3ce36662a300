import type { JsonValue } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'
import { deriveRandom, type Random } from '../numerics/random.ts'
import { shuffled } from '../numerics/shuffled.ts'
import type { Interference } from './execution.ts'
import type { Packet } from './packet.ts'

/** How executions are disturbed on purpose, as plain data. Seed, task and node determine what happens. */
export interface Disturbance {
  readonly seed: number
  /** Agents of this role fail. */
  readonly dropRole?: string
  /** The probability that a message arrives garbled, with another answer. */
  readonly corruptMessage?: number
  /** The probability that an agent fails without being called. */
  readonly failWorker?: number
}

/** The disturbance of one execution. */
export function interferenceOf(
  { seed, dropRole, corruptMessage = 0, failWorker = 0 }: Disturbance,
  task: Task,
): Interference {
  return {
    fails: ({ node, role }) =>
      role === dropRole || deriveRandom(seed, 'fail-worker', task.id, node).uniform() < failWorker,
    handedOn(packet) {
      const random = deriveRandom(seed, 'corrupt-message', task.id, packet.node)
      return packet.part === 'control' || random.uniform() >= corruptMessage
        ? packet
        : garbled(packet, task, random)
    },
  }
}

/** Shuffles the words of the analysis, and replaces the answer by another one if possible, else by none. */
function garbled(packet: Packet, task: Task, random: Random): Packet {
  if (packet.status !== 'ok' && packet.status !== 'null_answer') return packet
  const words = packet.analysis?.split(/\s+/) ?? []
  const answer = otherAnswer(packet.answer, task, random)
  const analysis = shuffled(words, random).join(' ')
  return { ...packet, analysis, answer, status: answer === null ? 'null_answer' : 'ok' }
}

function otherAnswer(answer: JsonValue, { options = [], program }: Task, random: Random): JsonValue {
  if (typeof answer !== 'string' || program !== undefined) return null
  const others = options.filter(({ label }) => label.toUpperCase() !== answer.trim().toUpperCase())
  if (others.length > 0) return others[Math.floor(random.uniform() * others.length)]!.label
  if (/^true$/i.test(answer.trim())) return 'false'
  if (/^false$/i.test(answer.trim())) return 'true'
  const value = Number(answer)
  return answer.trim() !== '' && Number.isFinite(value)
    ? String(value + 1 + Math.floor(9 * random.uniform()))
    : null
}
