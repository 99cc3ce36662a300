// The SQLite ledger: how fast it stores and finds, whether a million rows slow it down, and what it adds to an equally durable bare
// insert; and how fast the PostgreSQL ledger is with as many rows.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { deriveRandom } from '../src/numerics/random.ts'
import { evaluationDigest } from '../src/store/ledger/evaluation.ts'
import { SqliteLedger } from '../src/store/ledger/sqlite.ts'
import { encodeTrace } from '../src/store/ledger/trace-codec.ts'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from '../test/ledger/samples.ts'
import { Postgres } from '../test/postgres/server.ts'
import { atMost, type Bench, Samples } from './bench.ts'
import { measureSharedLedger } from './scale/shared-ledger.ts'

/** Concurrent writers while the ledger grows. */
const lanes = 256
const lookups = 5000

export const ledgerBench: Bench = async ({ quick, say }) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-ledger-'))
  try {
    const growth = await measureGrowth(join(folder, 'grown.sqlite'), quick, say)
    const puts = await measurePuts(folder, quick ? 4 : 20, say)
    const shared = await measureOnPostgres(quick ? 1e4 : 1e6, say)
    return {
      figures: { ...growth.figures, ...puts.figures, postgres_get_put_per_second: shared.getPutPerSecond },
      goals: { lookup_million_vs_ten_thousand: atMost(3) },
      postgres: shared,
      growth: growth.details,
      microsecondsPerPut: puts.details,
      machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** On its own PostgreSQL with default settings, which waits for the disk. */
async function measureOnPostgres(rows: number, say: (line: string) => void) {
  const postgres = await Postgres.start({
    durable: true,
    settings: ['shared_buffers = 256MB', 'max_wal_size = 4GB'],
  })
  try {
    return await measureSharedLedger(await postgres.database(), rows, 20_000, say)
  } finally {
    await postgres.stop()
  }
}

/** Rows are evaluations, each with its trace and a reply. */
async function measureGrowth(path: string, quick: boolean, say: (line: string) => void) {
  const sizes = quick ? [1e4, 1e5] : [1e4, 1e5, 1e6]
  const ledger = await SqliteLedger.open(path)
  const medians: number[] = []
  const details = []
  let rows = 0
  for (const size of sizes) {
    say(`growing to ${size} rows …`)
    const added = size - rows
    const start = performance.now()
    await inLanes(rows, size, async (number) => {
      const digest = evaluationDigest(sampleKey(number))
      await Promise.all([ledger.keepReply(digest, sampleAnswer(number)), keepSample(ledger, number)])
    })
    const seconds = (performance.now() - start) / 1000
    rows = size
    const found = await measureLookups(ledger, size, sampleKey(size + 1).task)
    medians.push(found.known.median)
    details.push({
      rows: size,
      megabytes: Math.round(statSync(path).size / 1e6),
      insertsPerSecond: Math.round(added / seconds),
      lookupsPerSecond: Math.round(1000 / found.known.median),
      lookupMicroseconds: micros(found.known),
      missMicroseconds: micros(found.unknown),
      replyMicroseconds: micros(found.replies),
    })
  }
  await ledger.close()
  const start = performance.now()
  await (await SqliteLedger.open(path)).close()
  const openSeconds = Number(((performance.now() - start) / 1000).toPrecision(3))
  const ratio = medians.at(-1)! / medians[0]!
  return {
    // A quick run stops at a hundred thousand rows, so its figure has another name.
    figures: { [`lookup_${quick ? 'hundred_thousand' : 'million'}_vs_ten_thousand`]: ratio },
    details: { sizes: details, openSeconds },
  }
}

/** Looks up random rows, so that recently used ones do not flatter the cache. Times of 50 at once. */
async function measureLookups(ledger: SqliteLedger, size: number, missing: string) {
  const [known, unknown, replies] = [new Samples(), new Samples(), new Samples()]
  const together = 50
  const random = deriveRandom(size, 'lookups')
  for (let done = 0; done < lookups; done += together) {
    const keys = Array.from({ length: together }, () => sampleKey(Math.floor(random.uniform() * size)))
    const digests = keys.map(evaluationDigest)
    known.add(await each(keys, async (key) => expectThere(await ledger.find(key))))
    unknown.add(await each(keys, async (key) => void (await ledger.find({ ...key, task: missing }))))
    replies.add(await each(digests, async (digest) => expectThere(await ledger.findReply(digest))))
  }
  return { known, unknown, replies }
}

/** Our put of an evaluation with its trace against bare inserts of the same bytes in one transaction per evaluation. */
async function measurePuts(folder: string, rounds: number, say: (line: string) => void) {
  const ledger = await SqliteLedger.open(join(folder, 'ours.sqlite'))
  const bare = bareTable(join(folder, 'bare.sqlite'))
  const perRound = 64
  const [ours, crowd, theirs] = [new Samples(), new Samples(), new Samples()]
  const [oneByOne, together] = [new Samples(), new Samples()]
  let number = 0
  for (let round = 0; round < rounds; round += 1) {
    if (round % 5 === 0) say(`puts: round ${round + 1} of ${rounds} …`)
    const numbers = () => Array.from({ length: perRound }, () => number++)
    const our = await each(numbers(), (one) => keepSample(ledger, one))
    const their = await each(numbers(), async (one) => bare.put(one))
    const atOnce = await timedWhole(
      () => Promise.all(numbers().map((one) => keepSample(ledger, one))),
      perRound,
    )
    ours.add(our)
    theirs.add(their)
    crowd.add(atOnce)
    oneByOne.add(our / their)
    together.add(atOnce / their)
  }
  await ledger.close()
  bare.close()
  return {
    figures: { put_vs_bare_insert: oneByOne.median, put_vs_bare_insert_c64: together.median },
    details: { ours: micros(ours), oursAtOnce: micros(crowd), bare: micros(theirs) },
  }
}

function bareTable(path: string): { put: (number: number) => void; close: () => void } {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE traces (id TEXT PRIMARY KEY, trace BLOB)')
  database.exec('CREATE TABLE evaluations (key TEXT PRIMARY KEY, evaluation TEXT)')
  const [trace, evaluation, begin, commit]: StatementSync[] = [
    database.prepare('INSERT INTO traces VALUES (?, ?)'),
    database.prepare('INSERT INTO evaluations VALUES (?, ?)'),
    database.prepare('BEGIN IMMEDIATE'),
    database.prepare('COMMIT'),
  ]
  return {
    put(number) {
      const record = sampleEvaluation(number)
      begin!.run()
      trace!.run(record.execution, encodeTrace(sampleTrace(number, said)))
      evaluation!.run(evaluationDigest(sampleKey(number)), JSON.stringify([sampleKey(number), record]))
      commit!.run()
    },
    close: () => database.close(),
  }
}

const said = 'Half of the eggs are sold, so the others are eaten. '.repeat(4)

async function keepSample(ledger: SqliteLedger, number: number): Promise<void> {
  await ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number, said))
}

async function inLanes(from: number, to: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = from
  const lane = async () => {
    while (next < to) {
      next += 1
      await work(next - 1)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Milliseconds per put, one after another. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<number> {
  return await timedWhole(async () => {
    for (const item of items) await work(item)
  }, items.length)
}

async function timedWhole(work: () => Promise<unknown>, parts: number): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / parts
}

function expectThere(found: unknown): void {
  if (found === undefined) throw new Error('The ledger has lost a row.')
}

function micros(samples: Samples): { median: number; p90: number } {
  const round = (milliseconds: number) => Number((1000 * milliseconds).toPrecision(4))
  return { median: round(samples.median), p90: round(samples.quantile(0.9)) }
}
