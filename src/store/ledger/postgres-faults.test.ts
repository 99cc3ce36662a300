import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Child } from '../../../test/ledger/child.ts'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from '../../../test/ledger/samples.ts'
import { SilentProxy } from '../../../test/postgres/proxy.ts'
import { Postgres } from '../../../test/postgres/server.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { exitCode } from '../../problem.ts'
import { PostgresAddress } from '../postgres/address.ts'
import { Database } from '../postgres/database.ts'
import { LedgerError } from './ledger-error.ts'
import { PostgresLedger } from './postgres.ts'

const writerScript = new URL('../../../test/ledger/postgres-writer.ts', import.meta.url)

let postgres: Postgres
let address: string
beforeAll(async () => {
  // Acknowledged writes must survive a crash.
  postgres = await Postgres.start({ durable: true })
  address = await postgres.database()
})
afterAll(() => postgres?.stop())

async function withLedger<Result>(
  work: (ledger: PostgresLedger, name: string, database: Database) => Promise<Result>,
  { name = randomUUID(), at = address, ...options } = {} as { name?: string; at?: string } & Parameters<
    typeof Database.open
  >[1],
): Promise<Result> {
  const database = await Database.open(new PostgresAddress(at), options)
  try {
    await PostgresLedger.create(database, name, 'test')
    return await work(await PostgresLedger.open(database, { name }), name, database)
  } finally {
    await database.close()
  }
}

const keepSample = (ledger: PostgresLedger, number: number) =>
  ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number))

/** Checks that every listed entry is complete, and returns the numbers. */
async function wholeSamples(ledger: PostgresLedger): Promise<Set<number>> {
  const listed = new Set<number>()
  for await (const { key, evaluation } of ledger.entries()) {
    const number = Number(key.task.slice('task-'.length))
    expect(evaluation).toEqual(sampleEvaluation(number))
    listed.add(number)
  }
  const found = [...listed]
  await Promise.all(
    found.map(async (number) => {
      expect(await ledger.findTrace(`execution-${number}`)).toMatchObject({ task: `task-${number}` })
      expect(await ledger.findReply(`request-${number}`)).toEqual(sampleAnswer(number))
    }),
  )
  expect(await ledger.size()).toMatchObject({ evaluations: listed.size, traces: listed.size })
  return listed
}

const acknowledged = (writer: Child) =>
  writer.lines.filter((line) => line !== 'open').map((line) => Number(line))

/** The test database's current backends, except this query's own. */
async function backends(): Promise<readonly number[]> {
  const { rows } = await postgres.query(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    address,
  )
  return rows.map(({ pid }) => pid)
}

/**
 * The server still runs a statement from a killed client: waits until all backends not in `before` are gone.
 */
async function untilGone(before: readonly number[]): Promise<void> {
  while ((await backends()).some((pid) => !before.includes(pid))) await sleep(20)
}

test('after killing a writer at any moment, acknowledged entries exist and none is partial', async () => {
  const random = deriveRandom(1, 'kill moments of writers')
  await withLedger(async (ledger, name) => {
    const kept: number[] = []
    for (let kill = 0; kill < 6; kill += 1) {
      const before = await backends()
      const writer = new Child(writerScript, address, name, String(kill * 100_000), '100000')
      await writer.untilLines(2 + Math.floor(random.uniform() * 60))
      await sleep(random.uniform() * 15)
      await writer.kill()
      await untilGone(before)
      kept.push(...acknowledged(writer))
      const listed = await wholeSamples(ledger)
      expect(kept.filter((number) => !listed.has(number))).toEqual([])
    }
    expect(kept.length).toBeGreaterThan(50)
  })
})

test.for(['fast', 'immediate'] as const)(
  'stopping (%s) and restarting PostgreSQL during writes loses nothing and fails nothing',
  async (mode) => {
    await withLedger(async (ledger, name) => {
      const writers = [0, 1].map(
        (place) => new Child(writerScript, address, name, String(place * 200), '400'),
      )
      for (const count of [20, 60]) {
        await Promise.all(writers.map((writer) => writer.untilLines(count)))
        await postgres.halt(mode)
        await postgres.restart()
      }
      await Promise.all(writers.map((writer) => writer.ended))
      expect(writers.map((writer) => writer.process.exitCode)).toEqual([0, 0])
      expect(writers.map((writer) => acknowledged(writer).length)).toEqual([400, 400])
      // Both kept half of the numbers.
      expect((await wholeSamples(ledger)).size).toBe(600)
      expect(await ledger.spending()).toMatchObject({ calls: 600 })
    })
  },
)

test('a writer paused for a while does not overwrite what others kept meanwhile', async () => {
  await withLedger(async (ledger, name) => {
    const zombie = new Child(writerScript, address, name, '0', '300')
    await zombie.untilLines(10)
    zombie.process.kill('SIGSTOP')
    const evaluation = { ...sampleEvaluation(250), score: 1, execution: 'first' }
    await ledger.keep(sampleKey(250), evaluation, { ...sampleTrace(250), execution: 'first' })
    zombie.process.kill('SIGCONT')
    await zombie.ended
    expect(zombie.process.exitCode).toBe(0)
    expect(await ledger.find(sampleKey(250))).toEqual(evaluation)
    expect(await ledger.findTrace('execution-250')).toBeDefined()
    expect(await ledger.size()).toMatchObject({ evaluations: 300, traces: 301 })
  })
})

describe('a connection that goes silent', () => {
  test('is abandoned, and the work continues on another one', async () => {
    const proxy = await SilentProxy.start(postgres.port)
    const at = proxy.through(address)
    await withLedger(
      async (ledger) => {
        await keepSample(ledger, 1)
        proxy.silence()
        const writes = [2, 3, 4].map((number) => keepSample(ledger, number))
        const reads = [ledger.find(sampleKey(1)), ledger.findReply('none')]
        await sleep(50)
        proxy.mend()
        await Promise.all(writes)
        expect(await Promise.all(reads)).toEqual([sampleEvaluation(1), undefined])
        expect(await ledger.size()).toMatchObject({ evaluations: 4, traces: 4 })
      },
      { at, statementMs: 1000 },
    )
    await proxy.stop()
  })

  test('forever: an error says so after the stated time, and how to continue', async () => {
    const proxy = await SilentProxy.start(postgres.port)
    await withLedger(async (_, name) => {
      // The timeout covers the silence only: everything a busy machine might be slow with is done.
      const at = new PostgresAddress(proxy.through(address))
      const database = await Database.open(at, { statementMs: 2000, patienceMs: 4000 })
      const ledger = await PostgresLedger.open(database, { name })
      proxy.silence()
      const failure = await keepSample(ledger, 1).catch((error) => error)
      expect(failure).toBeInstanceOf(LedgerError)
      expect(failure.message).toMatch(/could not be reached for 4 s .*MAGIC_LEDGER names it, then resume/)
      expect(failure.exitCode).toBe(exitCode.unavailable)
      await database.close()
    })
    await proxy.stop()
  })
})

test('more processes than PostgreSQL has connections wait for each other', async () => {
  const small = await Postgres.start({ settings: ['max_connections = 8'] })
  try {
    const at = await small.database()
    await withLedger(
      async (ledger, name) => {
        const writers = [0, 1, 2, 3].map(
          (place) => new Child(writerScript, at, name, String(place * 50), '50'),
        )
        await Promise.all(writers.map((writer) => writer.ended))
        expect(writers.map((writer) => writer.process.exitCode)).toEqual([0, 0, 0, 0])
        expect((await wholeSamples(ledger)).size).toBe(200)
      },
      { at },
    )
  } finally {
    await small.stop()
  }
})
