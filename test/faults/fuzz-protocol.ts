// node test/faults/fuzz-protocol.ts [count] [seed]: sends mutated responses through the parser, which must
// neither throw nor disagree with JSON.parse. The suite runs some tens of thousands; this is for a million.
import {
  parseFinalResponse,
  parseNodeResponse,
  type Response,
} from '../../src/execution/protocol/response.ts'
import { benchmarkContracts } from '../../src/tasks/benchmarks/list.ts'
import { mutatedResponses } from './mutated-responses.ts'

/** Counts classes and reasons. Throws, with the text, at the first response that is handled wrongly. */
export function fuzzProtocol(seed: number, count: number): Map<string, number> {
  const outcomes = new Map<string, number>()
  const contracts = Object.values(benchmarkContracts)
  let index = 0
  for (const text of mutatedResponses(seed, count)) {
    const contract = contracts[index % contracts.length]!
    index += 1
    try {
      const valid = isJson(text)
      for (const response of [parseNodeResponse(text, contract), parseFinalResponse(text, contract)]) {
        const outcome = outcomeOf(response)
        if (valid !== (outcome !== 'invalid_json'))
          throw new Error(`${outcome}, but JSON.parse thinks otherwise`)
        if (response.class !== 'format_failure') assertStorable(response)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
    } catch (error) {
      throw new Error(`seed ${seed}, response ${index}: ${JSON.stringify(text)}`, { cause: error })
    }
  }
  return outcomes
}

function outcomeOf(response: Response): string {
  return response.class === 'format_failure' ? response.reason : response.class
}

function assertStorable(response: Response): void {
  const text = JSON.stringify(response)
  // JSON.stringify escapes a lone surrogate, so none is left in well-formed text.
  if (/\\ud[89a-f]/i.test(text.replaceAll('\\\\', ''))) throw new Error(`not well-formed: ${text}`)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

if (import.meta.main) {
  const [count = 1_000_000, seed = 1] = process.argv.slice(2).map(Number)
  const start = performance.now()
  const outcomes = fuzzProtocol(seed, count)
  console.log(`${count} responses in ${Math.round(performance.now() - start)} ms, none thrown`)
  for (const [outcome, times] of [...outcomes].sort()) console.log(`${String(times).padStart(9)} ${outcome}`)
}
