import type { AnswerContract } from '../../library/answer-contract.ts'
import { canonicalJson, type JsonValue } from '../../library/json-value.ts'

const marker = 'FINAL: '

/**
 * The text that the scoring interface takes: the marker, then a string answer as it is, or another answer as JSON.
 * Models never write the marker; it costs no call and the same answer always gives the same text.
 */
export function wrapFinal(answer: JsonValue, contract: AnswerContract): string {
  return marker + (isTextContract(contract) ? (answer as string) : canonicalJson(answer))
}

/** Gives back the answer that `wrapFinal` was given. */
export function unwrapFinal(text: string, contract: AnswerContract): JsonValue {
  if (!text.startsWith(marker)) throw new Error(`A wrapped answer starts with '${marker}'.`)
  const rest = text.slice(marker.length)
  return isTextContract(contract) ? rest : (JSON.parse(rest) as JsonValue)
}

function isTextContract(contract: AnswerContract): boolean {
  return contract.types.length === 1 && contract.types[0] === 'string'
}
