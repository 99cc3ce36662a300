import type { AnswerContract } from '../../library/answer-contract.ts'
import { canonicalJson, type JsonValue } from '../../library/json-value.ts'

/**
 * The text that scorers read: the marker, then a string answer as is, or any other answer as JSON. Models never write
 * the marker. The same answer always gives the same text.
 */
export function wrapFinal(answer: JsonValue, contract: AnswerContract): string {
  const isText = contract.types.length === 1 && contract.types[0] === 'string'
  return `FINAL: ${isText ? (answer as string) : canonicalJson(answer)}`
}
