import { sandboxRemedy } from '../execution/toolbox.ts'
import type { JsonValue } from '../library/json-value.ts'
import { ordinaryRequest } from '../models/canary.ts'
import { stopsRun } from '../models/failure.ts'
import { pricedName, priceFor, runPriceOf, unpricedOf } from '../models/prices.ts'
import { callModel } from '../models/retry.ts'
import { ModelUnreachableError, stopError } from '../models/stop-error.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import { isSimulatedModel } from '../simulator/model/simulated-name.ts'
import { RunError } from '../store/run-folder.ts'
import { describeTools } from '../store/run-tools.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { type ScoringMeans, type TaskSet, TaskSetError } from '../tasks/task-set.ts'

export interface Check {
  readonly name: 'data' | 'scorer' | 'sandbox' | 'tools' | 'model' | 'price'
  readonly detail: string
  /** Something is missing, but the run can do without it. */
  readonly isLacking?: boolean
}

/** Programs are slow, and a few are enough to see whether running them works. */
const checkedPrograms = 3

/** Answers that must score 0. */
const worthless: readonly JsonValue[] = ['', 'this is no answer \u0000 {', null, {}]

/**
 * Finds problems that would make a run's numbers worthless, before anything is spent. Yields what is fine, and throws
 * at the first problem, with its remedy.
 */
export async function* selfCheck(options: {
  readonly parts: ExecutorParts
  readonly budget: BudgetSettings
  readonly signal?: AbortSignal
  /** Whether workers run the graphs. If so, they check programs and model themselves. */
  readonly isElsewhere?: boolean
}): AsyncGenerator<Check> {
  const { parts, budget, signal, isElsewhere = false } = options
  const { set, tools } = parts
  yield { name: 'data', detail: checkData(set) }
  const pool = isElsewhere ? undefined : tools.sandbox?.pool
  const programs = isElsewhere ? 0 : countPrograms(set)
  if (programs > 0 && pool === undefined)
    throw new TaskSetError(
      `${programs} answers of '${set.name}' are programs, and there is no sandbox to run them in. ${sandboxRemedy}`,
    )
  if (programs > 0)
    yield {
      name: 'sandbox',
      detail: `${tools.sandbox!.kind}; ${programs} answers are programs that will be run`,
    }
  yield* checkTools(parts)
  yield {
    name: 'scorer',
    detail: await checkScorer(set, { pool, signal }, isElsewhere ? 0 : checkedPrograms),
  }
  yield { name: 'price', detail: checkPrice(parts, budget) }
  // A budget of zero allows no call.
  if (isElsewhere || Object.values(budget).includes(0)) return
  yield { name: 'model', detail: await checkModel(parts, signal) }
}

function checkData(set: TaskSet): string {
  const places = new Map<string, string>()
  for (const [split, { tasks, references }] of Object.entries(set.splits)) {
    for (const { id } of tasks) {
      const other = places.get(id)
      if (other !== undefined)
        throw new TaskSetError(
          `Task '${id}' of '${set.name}' appears in ${other === split ? `split '${split}' twice` : `the splits '${other}' and '${split}'`}: training tasks must not be evaluated on. Give every task its own id.`,
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

/** A tool that is off now stays off in every resume, so the user must know before the run begins. */
function* checkTools({ set, tools }: ExecutorParts): Generator<Check> {
  const { on, off } = describeTools(set.profile, tools)
  if (on.length > 0) yield { name: 'tools', detail: on.join(', ') }
  for (const [name, reason] of Object.entries(off))
    yield { name: 'tools', detail: `${name}: off, because ${reason}`, isLacking: true }
}

function countPrograms({ splits, scorer }: TaskSet): number {
  return Object.values(splits)
    .flatMap(({ references }) => [...references.values()])
    .filter((reference) => scorer.needsSandbox?.(reference) === true).length
}

async function checkScorer(
  { name, splits, scorer }: TaskSet,
  means: ScoringMeans,
  mostPrograms: number,
): Promise<string> {
  if (scorer.judge !== undefined) return 'the model is the judge, which costs money: not tried before the run'
  const expectScore = async (task: string, answer: JsonValue, reference: unknown, expected: 0 | 1) => {
    const { score } = await scorer.score(answer, reference, means)
    if (score === expected) return
    const what = expected === 1 ? 'The reference answer' : `The worthless answer ${JSON.stringify(answer)}`
    throw new TaskSetError(
      `${what} of task '${task}' scores ${score}, not ${expected}: the scorer of '${name}' and its references do not fit together. Nothing was spent.`,
    )
  }
  let solved = 0
  let programs = 0
  let total = 0
  const examples = Object.values(splits).flatMap(({ tasks, references }) =>
    tasks.map(({ id }) => [id, references.get(id)] as const),
  )
  for (const [task, reference] of examples) {
    if (scorer.needsSandbox?.(reference) === true) {
      programs += 1
      if (programs > mostPrograms) continue
    }
    total += 1
    const solution = scorer.solution?.(reference)?.answer
    if (solution !== undefined) {
      await expectScore(task, solution, reference, 1)
      solved += 1
    }
    for (const answer of worthless) await expectScore(task, answer, reference, 0)
  }
  const rest = solved === total ? '' : `; ${total - solved} have no known answer to check with`
  const left = programs > mostPrograms ? `; ${programs - mostPrograms} programs are left to the run` : ''
  return `${solved} reference answers score 1, empty and unparseable ones 0${rest}${left}`
}

/** Throws if there is a cap on cost but no price to count with. */
export function checkPrice(
  parts: Pick<ExecutorParts, 'model' | 'models' | 'settings'>,
  { cost }: BudgetSettings,
): string {
  const price = runPriceOf(parts)
  const models = [parts.model, ...Object.values(parts.models ?? {})]
  if (price !== undefined)
    return models
      .map(({ identity }) => {
        const { input, output, currency, asOf } = priceFor(price, identity)!
        return `${pricedName(identity)}: ${input} and ${output} ${currency} per million tokens in and out (${asOf})`
      })
      .join('; ')
  const unpriced = unpricedOf(parts)
  const name = unpriced.find((one) => !isSimulatedModel(one)) ?? unpriced[0]!
  if (cost === undefined) return `${name} has no price: cost is not counted`
  if (isSimulatedModel(name)) return `${name} costs nothing: the cap on cost cannot be reached`
  throw new RunError(
    `The budget caps the cost, but there is no price for ${name}. Set one under model.prices["${name}"] in the configuration (execution.prices from code), or cap tokens or calls instead.`,
  )
}

async function checkModel(
  { model, settings: { decoding }, clock, meter }: ExecutorParts,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { reply } = await callModel(model, ordinaryRequest(decoding), { signal, clock, meter })
  if (reply.ok)
    return `${reply.servedModel ?? model.identity.model} answered in ${Math.round(reply.durationMs)} ms`
  if (reply.kind === 'cancelled') throw signal?.reason ?? new Error(reply.message)
  if (stopsRun(reply.kind)) throw stopError(reply, false)
  throw new ModelUnreachableError(
    `The model does not answer (${reply.kind}: ${reply.message.replace(/[.!?]$/, '')})`,
    false,
  )
}
