import type { GivenTrainingSettings } from '../../settings/training.ts'
import { readLines } from '../../store/durable-file.ts'
import { splitOf } from '../../tasks/task-set.ts'
import type { UpdateRecord } from '../../training/update-record.ts'
import type { Laboratory, OpenedSet } from '../laboratory.ts'
import { type BudgetUnit, selfCheckAmount } from './spent-amount.ts'
import { type ReachedStage, StageAccount } from './stages.ts'

/** The result of a route. */
export interface RouteResult {
  readonly folder: ReturnType<Laboratory['run']>
  /** The stages reached, with the checkpoint of each. */
  readonly stages: readonly (ReachedStage & { readonly update: number })[]
  readonly notReached: readonly number[]
  /** `out of passes`: the training's limit on passes was reached. */
  readonly end: 'finished' | 'stalled' | 'out of passes'
  readonly batches: number
  readonly spent: number
}

/** A route's budget, and the ledger it starts from. */
export interface RouteBudget {
  readonly stages: readonly number[]
  readonly unit: BudgetUnit
  readonly ledger?: string
}

/** The RL route: each batch is one update, and the checkpoint of every stage is kept. */
export async function rlRoute(
  lab: Laboratory,
  name: string,
  opened: OpenedSet,
  settings: GivenTrainingSettings,
  { stages, unit, ledger }: RouteBudget,
): Promise<RouteResult> {
  const folder = lab.run(name)
  const account = new StageAccount(stages, splitOf(opened.set, 'train').tasks.length)
  const reached: RouteResult['stages'][number][] = []
  const keptUpdates = new Set([0])
  const ended = new AbortController()
  let before: number | undefined
  const book = ({ update, spent }: UpdateRecord) => {
    // Cumulative, so that the spending of a killed process counts too.
    before ??= selfCheckAmount(folder, unit)
    const cost = unit.amount(spent) - before
    before = unit.amount(spent)
    for (const stage of account.book(cost)) {
      keptUpdates.add(update + 1)
      reached.push({ ...stage, update: update + 1 })
    }
    if (account.end !== undefined) ended.abort()
  }
  const done = folder.exists ? (folder.checkpoints().at(-1) ?? 0) : 0
  if (done > 0)
    for (const line of readLines(folder.eventsFile) as UpdateRecord[]) if (line.update < done) book(line)
  if (account.end === undefined)
    await lab.train(name, opened, settings, {
      keptUpdates,
      until: ended.signal,
      ledger,
      onEvent: (event) => {
        if (event.type === 'update') book(event)
        lab.options.onTraining?.(event)
      },
    })
  const { notReached, end = 'out of passes', batches, spent } = account
  return { folder, stages: reached, notReached, end, batches, spent }
}
