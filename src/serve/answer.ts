import type { AskedQuestions } from '../evaluation/asked-questions.ts'
import { type Solved, type SolveOptions, solve } from '../evaluation/solve.ts'
import type { TrainedPolicy } from '../evaluation/trained-policy.ts'
import type { ExecutionEvent } from '../execution/trace/events.ts'
import type { Unit } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { isRefusal } from '../models/failure.ts'
import { Refusal, type RefusedStatus } from './refusal.ts'

/** A run's policy with everything needed to answer questions. */
export interface ServedPolicy
  extends Pick<SolveOptions, 'model' | 'models' | 'tools' | 'limit' | 'settings'> {
  /** The model name that clients send. */
  readonly id: string
  readonly policy: TrainedPolicy
  readonly questions: AskedQuestions
  readonly isSimulated: boolean
}

export interface PutQuestion {
  readonly task: Task
  readonly contract?: AnswerContract
  readonly seed?: number
}

/** Progress events of an answer. They contain no text of tasks, models or tools. */
export type AnswerProgress =
  | ({ readonly type: 'unit-added' } & Unit)
  | Omit<Extract<ExecutionEvent, { type: 'node-start' | 'node-end' }>, 'execution'>

interface AnswerOptions extends Pick<SolveOptions, 'id' | 'signal' | 'meter'> {
  readonly onProgress?: (progress: AnswerProgress) => void
}

/** How an answer was made: the extension field `magic` of a completion. Same names as in `magic ask --json`. */
export type Organised = ReturnType<typeof organised>

export interface Answered {
  readonly content: string
  readonly magic: Organised
}

/** Answers as `magic ask` does. Throws `Unanswered` if there is no valid answer. */
export async function answer(
  served: ServedPolicy,
  { task: given, contract: wanted, seed }: PutQuestion,
  { onProgress, ...options }: AnswerOptions = {},
): Promise<Answered> {
  const { policy, questions, model, models, tools, limit, settings } = served
  const { task } = questions.taskFor(given)
  const contract = wanted ?? questions.contractFor(task)
  const solved = await solve({
    ...{ policy, model, models, tools, limit, settings, task, contract, seed, ...options },
    onConstruction: ({ graph }) => {
      for (const unit of graph.units) onProgress?.({ type: 'unit-added', ...unit })
    },
    onEvent: onProgress && ((event) => tellNode(event, onProgress)),
  })
  const guess = served.isSimulated && !questions.knowsAnswer(task)
  const magic = organised(served, solved, { contract: contract.name, seed, guess })
  const { answer: said } = solved
  if (solved.status !== 'answered' || said === undefined) throw new Unanswered(solved, magic)
  return { content: typeof said === 'string' ? said : JSON.stringify(said), magic }
}

function tellNode(event: ExecutionEvent, tell: (progress: AnswerProgress) => void): void {
  if (event.type !== 'node-start' && event.type !== 'node-end') return
  const { execution: _, ...progress } = event
  tell(progress)
}

function organised(
  { id: run, policy, isSimulated }: ServedPolicy,
  { graph, status, usage, cost, id, durationMs, failures }: Solved,
  { contract, seed, guess }: { contract: string; seed: number | undefined; guess: boolean },
) {
  return {
    ...{ run, update: policy.update, seed: seed ?? policy.run.training.seed, contract },
    ...{ graph: graph.toJSON(), key: graphKey(graph) },
    ...{ status, simulated: isSimulated, guess, usage, cost, durationMs: Math.round(durationMs) },
    // Reasons are left out: they may quote what the provider said about the operator's account.
    failures: failures.map(({ executor, status: how }) => ({ executor, status: how })),
    /** The execution's id, as in logs and OpenTelemetry spans. */
    trace: id,
  }
}

/** A retry would cost the same and, at temperature 0, give the same result. */
export const noRetry: Readonly<Record<string, string>> = { 'x-should-retry': 'false' }

/** The calls were made, but there is no valid answer. */
export class Unanswered extends Refusal {
  readonly magic: Organised

  constructor({ status, stop }: Solved, magic: Organised) {
    const [http, code, message] = reasonOf(status, stop)
    // The endpoint's own message only goes to the operator's log: it may reveal details of the account.
    super(http, message, { ...{ code, headers: noRetry, more: { magic }, cause: stop?.message } })
    this.magic = magic
  }
}

function reasonOf(
  status: Solved['status'],
  stop: Solved['stop'],
): [status: RefusedStatus, code: string, message: string] {
  if (status === 'aborted') return [503, 'cancelled', 'The request was cancelled.']
  if (status === 'timed_out') return [504, 'timed_out', 'The answer took too long.']
  if (stop === undefined)
    return [502, 'no_valid_answer', 'The agents gave no valid answer; see `magic.failures`.']
  const why = isRefusal(stop.kind) ? 'refuses further calls' : 'cannot be reached'
  return [502, 'model_unavailable', `The model behind this server ${why} (${stop.kind}).`]
}
