import { hash } from 'node:crypto'
import { writeSync } from 'node:fs'
import type { Trace } from '../../src/execution/trace/trace.ts'
import type { ChatAnswer } from '../../src/models/chat-model.ts'
import { noUsage } from '../../src/models/usage.ts'
import type { Evaluation, EvaluationKey } from '../../src/store/ledger/evaluation.ts'
import type { Ledger } from '../../src/store/ledger/ledger.ts'

/** The same number always gives the same sample, so a reader can tell whether it is complete. */
export function sampleKey(number: number): EvaluationKey {
  const digest = (what: string) => hash('sha256', `${what} ${number}`, 'hex')
  return { graph: digest('graph'), task: `task-${number}`, dataVersion: digest('data'), executor: 'executor' }
}

export function sampleEvaluation(number: number): Evaluation {
  return {
    score: (number % 7) / 7,
    parse: 'ok',
    measures: { em: number % 2 },
    status: 'answered',
    answer: { values: [`${number}`, null, 'é😀\u0000'], scale: '' },
    failures: [{ node: 'u0', status: 'truncated', reason: 'The output limit cut it off.' }],
    usage: { ...noUsage, calls: 3, attempts: 4, failedAttempts: 1, input: 100 + number, output: 20 },
    reused: { ...noUsage, calls: 1, input: 10 },
    cost: number % 2 === 0 ? 'unpriced' : { amount: number / 1e6, currency: 'CNY' },
    durationMs: 12.5,
    execution: `execution-${number}`,
  }
}

/** `text`: how much the nodes said. */
export function sampleTrace(number: number, text = 'x'): Trace {
  const { usage, reused, cost, status, execution, durationMs } = sampleEvaluation(number)
  return {
    version: 1,
    execution,
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs,
    status,
    answer: undefined,
    stop: undefined,
    task: `task-${number}`,
    graph: { units: [] },
    library: 'library',
    contract: 'text',
    model: { provider: 'scripted', model: 'm', options: {} },
    nodes: [],
    usage,
    reused,
    cost,
    texts: { direct: text },
  }
}

export function sampleAnswer(number: number): ChatAnswer {
  return {
    ok: true,
    text: `{"analysis":"…","answer":"${number}"}`,
    finish: 'stop',
    usage: { input: 10, cachedInput: 4, output: 5 },
    warnings: [],
    durationMs: 1,
  }
}

/** Keeps evaluations and replies, several at a time, and prints which are acknowledged. */
export async function writeSamples(ledger: Ledger, first: number, count: number): Promise<void> {
  let next = first
  async function lane(): Promise<void> {
    while (next < first + count) {
      const number = next
      next += 1
      await ledger.keepReply(`request-${number}`, sampleAnswer(number))
      const trace = sampleTrace(number, 'text '.repeat(number % 900))
      await ledger.keep(sampleKey(number), sampleEvaluation(number), trace)
      // Written directly to the descriptor, so it arrives even if the process dies right after.
      writeSync(1, `${number}\n`)
    }
  }
  await Promise.all([lane(), lane(), lane(), lane()])
}
