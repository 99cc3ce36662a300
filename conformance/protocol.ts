import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parseFinalResponse, parseNodeResponse, type Response } from '../src/execution/protocol/response.ts'
import type { AnswerContract } from '../src/library/answer-contract.ts'
import { benchmarkContracts } from '../src/tasks/benchmarks/list.ts'
import type { CaseResult } from './case.ts'

interface ProtocolCase {
  id: string
  name: string
  node: 'ordinary' | 'finalizer'
  benchmark: string
  raw?: string
  raw_parts?: [text: string, times: number][]
  expect: { class: string; reason?: string; answer?: unknown; tool?: string }
}

const patience = 1000

/** The cases of `responses.jsonl`: the parser's result for a text, and that it takes less than a second. */
export function* runProtocolCases(folder: string): Generator<CaseResult> {
  const file = join(folder, 'responses.jsonl')
  if (!existsSync(file)) {
    yield { name: file, failure: 'no such file' }
    return
  }
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    let name = `${file}:${index + 1}`
    try {
      const one = JSON.parse(line) as ProtocolCase
      name = `${one.id} ${one.name}`
      const failure = runCase(one)
      yield failure === undefined ? { name } : { name, failure }
    } catch (error) {
      yield { name, failure: error instanceof Error ? error.message : String(error) }
    }
  }
}

function runCase({ node, benchmark, raw, raw_parts, expect }: ProtocolCase): string | undefined {
  const contract: AnswerContract | undefined = Object.hasOwn(benchmarkContracts, benchmark)
    ? benchmarkContracts[benchmark as keyof typeof benchmarkContracts]
    : undefined
  if (contract === undefined) return `unknown benchmark ${benchmark}`
  if (node !== 'ordinary' && node !== 'finalizer') return `unknown node ${node}`
  const text = raw ?? raw_parts?.map(([part, times]) => part.repeat(times)).join('')
  if (text === undefined) return 'the case has neither raw nor raw_parts'
  const start = performance.now()
  const response =
    node === 'ordinary' ? parseNodeResponse(text, contract) : parseFinalResponse(text, contract)
  const elapsed = performance.now() - start
  if (elapsed > patience) return `took ${Math.round(elapsed)} ms`
  return differenceOf(response, expect)
}

function differenceOf(response: Response, expect: ProtocolCase['expect']): string | undefined {
  if (response.class !== expect.class) return `class ${response.class}, expected ${expect.class}`
  if (response.class === 'format_failure' && response.reason !== expect.reason)
    return `reason ${response.reason}, expected ${expect.reason}`
  if (response.class === 'tool_request' && response.tool !== expect.tool)
    return `tool ${response.tool}, expected ${expect.tool}`
  if (response.class === 'content' && 'answer' in expect) {
    // Through JSON text, so that objects with and without a prototype are equal.
    const answer: unknown = JSON.parse(JSON.stringify(response.answer))
    if (!isDeepStrictEqual(answer, expect.answer)) return `answer ${JSON.stringify(answer)}`
  }
  return undefined
}
