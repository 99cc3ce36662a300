import { Budget, capsLeft, usedBy } from '../store/budget.ts'
import { PostgresAddress } from '../store/postgres/address.ts'
import { ledgerPlace } from '../store/run-ledger.ts'
import { type OpenedRun, stateOf } from './open-run.ts'
import type { PreparedRun } from './prepare-run.ts'
import { openRunFiles } from './run-files.ts'
import type { TrainOptions } from './train-options.ts'
import { openEvaluator } from './training-evaluator.ts'

/** After the caller's signal, an update has this long to finish before it is abandoned. Replies received are kept. */
const graceMs = 4000

/** Opens everything the updates of a run need: its files, its budget, and an evaluator, which may use other processes. */
export async function openSession(
  prepared: PreparedRun,
  { learner, done }: OpenedRun,
  options: TrainOptions,
) {
  const { folder, parts, price, record } = prepared
  const { signal, keptUpdates: kept } = options
  const address = addressOf(options)
  await using opening = new AsyncDisposableStack()
  const files = opening.use(await openRunFiles(folder, done ?? 0, price, { kept, address }))
  if (done === undefined) await files.writeCheckpoint(stateOf(prepared, learner, 0))
  const late = opening.use(giveUpAfter(graceMs, signal))
  const { ledger, journal } = files
  const elsewhere = await options.elsewhere?.({
    parts,
    ledger,
    source: record.source,
    place: ledgerPlace(folder, address),
    caps: capsLeft(record.budget, usedBy([new Budget(record.budget, price, journal).spent])),
  })
  opening.defer(() => elsewhere?.close())
  const budget = new Budget(record.budget, price, journal, elsewhere?.spent)
  const evaluator = openEvaluator({
    parts: { ...parts, meter: budget },
    make: elsewhere?.make,
    ledger,
    requestReuse: record.training.requestReuse,
    signal: late.signal,
  })
  const opened = opening.move()
  return {
    files,
    budget,
    evaluator,
    elsewhere,
    /** Aborts once the caller's signal has abandoned the current update. */
    givenUp: late.signal,
    mayContinue: () => budget.reached() === undefined && signal?.aborted !== true,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** The given address of the ledger's PostgreSQL. Undefined means the environment's. */
export function addressOf({ database }: TrainOptions): PostgresAddress | undefined {
  return database === undefined ? undefined : new PostgresAddress(database)
}

/** A signal that aborts some time after another one. */
function giveUpAfter(
  ms: number,
  given: AbortSignal | undefined,
): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController()
  const start = () => void setTimeout(() => late.abort(given!.reason), ms).unref()
  given?.addEventListener('abort', start, { once: true })
  return { signal: late.signal, [Symbol.dispose]: () => given?.removeEventListener('abort', start) }
}
