// Finalizers that need no summarizer: majority vote and picking one answer.
import { canonicalJson, type JsonValue } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'
import type { Packet } from './packet.ts'
import { parseObject, type Response } from './protocol/response.ts'

/**
 * The most frequent answer; ties go to the one that came first. Undefined if nobody answered. Programs rarely agree
 * character by character, so if no two do, there is no majority.
 */
export function majorityOf(
  answers: readonly JsonValue[],
  task: Pick<Task, 'program'>,
): JsonValue | undefined {
  const keys = answers.map((answer) => voteKey(answer, task))
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  if (task.program !== undefined && most === 1 && answers.length > 1) return undefined
  return answers[keys.findIndex((key) => counts.get(key) === most)]
}

/** Two answers count as the same vote if their keys are equal. */
export function voteKey(answer: JsonValue, { program }: Pick<Task, 'program'>): string {
  if (typeof answer !== 'string') return canonicalJson(answer)
  if (program !== undefined) return programText(answer)
  const said = answer.trim().toLowerCase().replace(/\s+/g, ' ')
  const isNumber = /^-?[\d.,]+$/.test(said) && /\d/.test(said)
  const value = isNumber ? Number(said.replaceAll(',', '')) : Number.NaN
  return Number.isFinite(value) ? String(value) : said
}

/** Drops blank lines, comment-only lines and trailing white space. */
function programText(source: string): string {
  const lines = source.split('\n').map((line) => line.trimEnd())
  return lines.filter((line) => line !== '' && !line.trimStart().startsWith('#')).join('\n')
}

/** The answers of packets that gave one. */
export function answersOf(packets: readonly Packet[]): JsonValue[] {
  return packets.filter(({ status }) => status === 'ok').map(({ answer }) => answer)
}

/** Reads which packet the finalizer picked. */
export function readChoice(text: string, packets: readonly Packet[]): Response {
  const reading = parseObject(text)
  if ('reason' in reading) return reading
  const { choice, analysis } = reading.object
  const chosen = typeof choice === 'number' ? packets[choice - 1] : undefined
  const said = typeof analysis === 'string' && analysis.trim() !== '' ? analysis : `Choice ${String(choice)}.`
  if (chosen === undefined) return { class: 'format_failure', reason: 'bad_value' }
  return chosen.status === 'ok'
    ? { class: 'content', analysis: said, answer: chosen.answer }
    : { class: 'null_answer', analysis: said }
}
