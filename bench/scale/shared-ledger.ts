// The PostgreSQL ledger with many rows: one process, with the concurrency of a trainer or worker.
import { randomUUID } from 'node:crypto'
import { deriveRandom } from '../../src/numerics/random.ts'
import { evaluationDigest } from '../../src/store/ledger/evaluation.ts'
import { evaluationRow, traceRow } from '../../src/store/ledger/ledger-rows.ts'
import { PostgresLedger } from '../../src/store/ledger/postgres.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from '../../test/ledger/samples.ts'

const lanes = 256

export interface SharedLedgerFigures {
  readonly rows: number
  /** Further rows per second: each an evaluation with its trace, and a reply. */
  readonly insertsPerSecond: number
  /** Lookups of an evaluation followed by a new one with its trace, per second, among `rows`. */
  readonly getPutPerSecond: number
  readonly bytesPerRow: number
}

/** Fills a ledger to `rows`, then looks up and stores `pairs` more. */
export async function measureSharedLedger(
  address: string,
  rows: number,
  pairs: number,
  say: (line: string) => void,
): Promise<SharedLedgerFigures> {
  const database = await Database.open(new PostgresAddress(address))
  try {
    const name = randomUUID()
    await PostgresLedger.create(database, name, 'bench')
    const ledger = await PostgresLedger.open(database, { name })
    const keep = async (number: number) => {
      await ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number, said))
    }
    say(`growing a ledger on PostgreSQL to ${rows} rows …`)
    await grow(ledger, rows)
    const [size] = await database.query<{ bytes: number }>(
      "SELECT sum(pg_total_relation_size(oid))::bigint AS bytes FROM pg_class WHERE relnamespace = 'magic'::regnamespace AND relkind = 'r'",
    )
    // At random, so that recently used rows do not flatter the cache.
    const random = deriveRandom(rows, 'shared ledger')
    const insertsPerSecond = await rate(rows, rows + pairs, async (number) => {
      const digest = evaluationDigest(sampleKey(number))
      await Promise.all([ledger.keepReply(digest, sampleAnswer(number)), keep(number)])
    })
    const getPutPerSecond = await rate(rows + pairs, rows + 2 * pairs, async (number) => {
      const known = await ledger.find(sampleKey(Math.floor(random.uniform() * rows)))
      if (known === undefined) throw new Error('The ledger has lost a row.')
      await keep(number)
    })
    await ledger.close()
    return {
      rows,
      insertsPerSecond: Math.round(insertsPerSecond),
      getPutPerSecond: Math.round(getPutPerSecond),
      bytesPerRow: Math.round(size!.bytes / rows),
    }
  } finally {
    await database.close()
  }
}

const said = 'Half of the eggs are sold, so the others are eaten. '.repeat(4)

/** Evaluations with traces, many per statement, as when copying a ledger. */
async function grow(ledger: PostgresLedger, rows: number): Promise<void> {
  const batch = 2000
  let next = 0
  const lane = async () => {
    while (next < rows) {
      const first = next
      next += batch
      const numbers = Array.from({ length: Math.min(batch, rows - first) }, (_, at) => first + at)
      await ledger.takeOver(
        'executions',
        numbers.map((number) => traceRow(sampleTrace(number, said))),
      )
      await ledger.takeOver(
        'evaluations',
        numbers.map((number) => evaluationRow(sampleKey(number), sampleEvaluation(number))),
      )
    }
  }
  await Promise.all(Array.from({ length: 4 }, lane))
}

async function rate(from: number, to: number, work: (number: number) => Promise<void>): Promise<number> {
  const start = performance.now()
  let next = from
  const lane = async () => {
    while (next < to) {
      next += 1
      await work(next - 1)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return ((to - from) * 1000) / (performance.now() - start)
}
