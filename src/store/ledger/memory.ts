import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import { assertStorable, type Evaluation, type EvaluationKey, evaluationDigest } from './evaluation.ts'
import {
  assertAnswer,
  type EvaluationLedger,
  type LedgerEntry,
  type LedgerSize,
  type Spending,
} from './evaluation-ledger.ts'

/** A ledger that ends with the process. Everything is held as JSON, so that nobody's later change reaches it. */
export class MemoryLedger implements EvaluationLedger {
  readonly #entries = new Map<string, string>()
  readonly #replies = new Map<string, string>()
  readonly #observations = new Map<string, string>()
  readonly #traces = new Map<string, string>()

  async find(key: EvaluationKey): Promise<Evaluation | undefined> {
    return read<LedgerEntry>(this.#entries.get(evaluationDigest(key)))?.evaluation
  }

  async keep(key: EvaluationKey, evaluation: Evaluation, trace: Trace): Promise<Evaluation> {
    assertStorable(evaluation, trace)
    const { graph, task, dataVersion, executor } = key
    keepFirst(this.#traces, trace.execution, trace)
    keepFirst(this.#entries, evaluationDigest(key), {
      key: { graph, task, dataVersion, executor },
      evaluation,
    })
    return (await this.find(key))!
  }

  async findReply(digest: string): Promise<ChatAnswer | undefined> {
    return read(this.#replies.get(digest))
  }

  async keepReply(digest: string, answer: ChatAnswer): Promise<void> {
    assertAnswer(answer)
    keepFirst(this.#replies, digest, answer)
  }

  async findObservation(digest: string): Promise<JsonValue | undefined> {
    return read(this.#observations.get(digest))
  }

  async keepObservation(digest: string, observation: JsonValue): Promise<void> {
    keepFirst(this.#observations, digest, observation)
  }

  async findTrace(execution: string): Promise<Trace | undefined> {
    return read(this.#traces.get(execution))
  }

  async keepTrace(trace: Trace): Promise<void> {
    keepFirst(this.#traces, trace.execution, trace)
  }

  async *entries(): AsyncIterable<LedgerEntry> {
    for (const entry of this.#entries.values()) yield read<LedgerEntry>(entry)!
  }

  async size(): Promise<LedgerSize> {
    return { evaluations: this.#entries.size, replies: this.#replies.size, traces: this.#traces.size }
  }

  async spending(): Promise<Spending> {
    const sum = { calls: 0, input: 0, cachedInput: 0, output: 0, unknown: 0 }
    for (const reply of this.#replies.values()) {
      const { usage } = read<ChatAnswer>(reply)!
      sum.calls += 1
      if (usage === undefined) sum.unknown += 1
      sum.input += usage?.input ?? 0
      sum.cachedInput += usage?.cachedInput ?? 0
      sum.output += usage?.output ?? 0
    }
    return sum
  }

  async close(): Promise<void> {}
}

function keepFirst(map: Map<string, string>, key: string, value: unknown): void {
  if (!map.has(key)) map.set(key, JSON.stringify(value))
}

function read<Value>(json: string | undefined): Value | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Value)
}
