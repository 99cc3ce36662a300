import { sandboxRemedy } from '../execution/toolbox.ts'
import type { JsonValue } from '../library/json-value.ts'
import { ordinaryRequest } from '../models/canary.ts'
import { stopsRun } from '../models/failure.ts'
import { stopError } from '../models/model-refused.ts'
import { ModelUnreachableError } from '../models/model-unreachable.ts'
import { priceOf } from '../models/prices.ts'
import { callModel } from '../models/retry.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import { RunError } from '../store/run-folder.ts'
import { describeTools } from '../store/run-tools.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { type ScoringMeans, type TaskSet, TaskSetError, type TaskSplit } from '../tasks/task-set.ts'

export interface Check {
  readonly name: 'data' | 'scorer' | 'sandbox' | 'tools' | 'model' | 'price'
  readonly detail: string
  /** Something is lacking that the run can do without. */
  readonly isLacking?: boolean
}

/** Programs take a while to run: a few of them tell whether running them works at all. */
const checkedPrograms = 3

/** Answers that no scorer may give credit for. */
const worthless: readonly JsonValue[] = ['', 'this is no answer \u0000 {', null, {}]

/**
 * Finds what would make a run's numbers worthless before anything is spent on them. Throws at the first thing that is
 * wrong, with what to do about it; tells of everything that is right.
 */
export async function* selfCheck(options: {
  readonly parts: ExecutorParts
  readonly budget: BudgetSettings
  readonly signal?: AbortSignal
}): AsyncGenerator<Check> {
  const { parts, budget, signal } = options
  const { set, tools } = parts
  yield { name: 'data', detail: checkData(set) }
  const pool = tools.sandbox?.pool
  const programs = countPrograms(set)
  if (programs > 0) {
    if (pool === undefined)
      throw new TaskSetError(
        `${programs} answers of '${set.name}' are programs, and there is no sandbox to run them in. ${sandboxRemedy}`,
      )
    yield {
      name: 'sandbox',
      detail: `${tools.sandbox!.kind}; ${programs} answers are programs that will be run`,
    }
  }
  yield* checkTools(parts)
  yield { name: 'scorer', detail: await checkScorer(set, { pool, signal }) }
  yield { name: 'price', detail: checkPrice(parts, budget) }
  // A budget of zero allows no call.
  if (Object.values(budget).includes(0)) return
  yield { name: 'model', detail: await checkModel(parts, signal) }
}

function checkData(set: TaskSet): string {
  const places = new Map<string, string>()
  for (const [split, { tasks, references }] of Object.entries(set.splits)) {
    for (const { id } of tasks) {
      const other = places.get(id)
      if (other !== undefined)
        throw new TaskSetError(
          `Task '${id}' of '${set.name}' stands in ${other === split ? `split '${split}' twice` : `the splits '${other}' and '${split}'`}: what is learned from must not be evaluated on. Give every task its own id.`,
        )
      if (!references.has(id))
        throw new TaskSetError(`Task '${id}' of '${set.name}', split '${split}', has no reference answer.`)
      places.set(id, split)
    }
  }
  const train = set.splits['train']?.tasks.length ?? 0
  if (train === 0)
    throw new TaskSetError(
      `The task set '${set.name}' has no tasks in its split 'train': there is nothing to learn from.`,
    )
  const counts = Object.entries(set.splits).map(([split, { tasks }]) => `${tasks.length} in ${split}`)
  return counts.join(', ')
}

/** A tool that is off stays so in every resume: whoever wants it must know before the run begins. */
function* checkTools({ set, tools }: ExecutorParts): Generator<Check> {
  const { on, off } = describeTools(set.profile, tools)
  if (on.length > 0) yield { name: 'tools', detail: on.join(', ') }
  for (const [name, reason] of Object.entries(off))
    yield { name: 'tools', detail: `${name}: off, because ${reason}`, isLacking: true }
}

function countPrograms(set: TaskSet): number {
  const { scorer } = set
  return Object.values(set.splits)
    .flatMap(({ references }) => [...references.values()])
    .filter((reference) => scorer.needsSandbox?.(reference) === true).length
}

async function checkScorer(set: TaskSet, means: ScoringMeans): Promise<string> {
  let solved = 0
  let programs = 0
  let total = 0
  for (const { tasks, references } of Object.values(set.splits) as TaskSplit[]) {
    for (const task of tasks) {
      const reference = references.get(task.id)
      const isProgram = set.scorer.needsSandbox?.(reference) === true
      if (isProgram) {
        programs += 1
        if (programs > checkedPrograms) continue
      }
      total += 1
      const solution = set.scorer.solution?.(reference)?.answer
      if (solution !== undefined) {
        await expectScore(set, task.id, solution, reference, means, 1)
        solved += 1
      }
      for (const answer of worthless) await expectScore(set, task.id, answer, reference, means, 0)
    }
  }
  const unsolved = total - solved
  const rest = unsolved === 0 ? '' : `; ${unsolved} have no known answer to check with`
  const left =
    programs > checkedPrograms ? `; ${programs - checkedPrograms} programs were left to the run` : ''
  return `${solved} reference answers score 1, empty and unparseable ones 0${rest}${left}`
}

async function expectScore(
  set: TaskSet,
  task: string,
  answer: JsonValue,
  reference: unknown,
  means: ScoringMeans,
  expected: 0 | 1,
): Promise<void> {
  const { score } = await set.scorer.score(answer, reference, means)
  if (score === expected) return
  const what = expected === 1 ? 'The reference answer' : `The worthless answer ${JSON.stringify(answer)}`
  throw new TaskSetError(
    `${what} of task '${task}' scores ${score}, not ${expected}: the scorer of '${set.name}' and its references do not fit together. Nothing was spent.`,
  )
}

/** A cap in money that nothing can reach is none: it throws. */
export function checkPrice(
  { model, settings }: Pick<ExecutorParts, 'model' | 'settings'>,
  { cost }: BudgetSettings,
): string {
  const price = priceOf(model.identity, settings.prices)
  const name = `${model.identity.provider}/${model.identity.model}`
  if (price !== undefined)
    return `${name}: ${price.input} and ${price.output} ${price.currency} per million tokens in and out (${price.asOf})`
  if (cost === undefined) return `${name} has no price: money is not counted`
  throw new RunError(
    `There is a budget in money, but no price for ${name}: give one under model.prices["${name}"] in the configuration (execution.prices from code), or cap tokens or calls instead.`,
  )
}

async function checkModel(
  { model, settings: { decoding }, clock }: ExecutorParts,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { reply } = await callModel(model, ordinaryRequest(decoding), {
    signal,
    clock,
  })
  if (reply.ok)
    return `${reply.servedModel ?? model.identity.model} answered in ${Math.round(reply.durationMs)} ms`
  if (reply.kind === 'cancelled') throw signal?.reason ?? new Error(reply.message)
  if (stopsRun(reply.kind)) throw stopError(reply)
  throw new ModelUnreachableError(
    `The model does not answer (${reply.kind}: ${reply.message.replace(/[.!?]$/, '')})`,
  )
}
