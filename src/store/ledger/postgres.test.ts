import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from '../../../test/ledger/samples.ts'
import { canaryPassword, Postgres } from '../../../test/postgres/server.ts'
import { PostgresAddress } from '../postgres/address.ts'
import { Database } from '../postgres/database.ts'
import { ledgerContract } from './evaluation-ledger.contract.ts'
import { LedgerError } from './ledger-error.ts'
import { PostgresLedger } from './postgres.ts'

let postgres: Postgres
let address: string
let database: Database
beforeAll(async () => {
  postgres = await Postgres.start()
  address = await postgres.database()
  database = await Database.open(new PostgresAddress(address))
})
afterAll(async () => {
  await database?.close()
  await postgres?.stop()
})

async function freshLedger(): Promise<PostgresLedger> {
  const name = randomUUID()
  await PostgresLedger.create(database, name, 'test')
  return await PostgresLedger.open(database, { name })
}

const keepSample = (ledger: PostgresLedger, number: number, text?: string) =>
  ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number, text))

describe('a ledger on PostgreSQL', () => {
  ledgerContract(freshLedger)

  test('sees nothing of others in the same database', async () => {
    const [one, two] = [await freshLedger(), await freshLedger()]
    await keepSample(one, 1)
    await one.keepReply('d', sampleAnswer(1))
    await one.keepObservation('d', 1)
    expect(await two.find(sampleKey(1))).toBeUndefined()
    expect(await two.findReply('d')).toBeUndefined()
    expect(await two.findObservation('d')).toBeUndefined()
    expect(await two.findTrace('execution-1')).toBeUndefined()
    expect(await two.evaluationsOf('task-1')).toEqual([])
    expect(await two.spending()).toMatchObject({ calls: 0 })
    expect(await two.size()).toEqual({ evaluations: 0, replies: 0, traces: 0 })
  })

  test('concurrent writers of the same rows in opposite orders both succeed and agree', async () => {
    const name = randomUUID()
    await PostgresLedger.create(database, name, 'test')
    const both = [
      await PostgresLedger.open(database, { name }),
      await PostgresLedger.open(database, { name }),
    ]
    const numbers = Array.from({ length: 300 }, (_, number) => number)
    const stands = await Promise.all(
      both.map((ledger, place) =>
        Promise.all(
          (place === 0 ? numbers : numbers.toReversed()).map(async (number) => {
            const execution = `by-${place}-${number}`
            const evaluation = { ...sampleEvaluation(number), execution }
            return await ledger.keep(sampleKey(number), evaluation, { ...sampleTrace(number), execution })
          }),
        ),
      ),
    )
    expect(stands[1]!.toReversed()).toEqual(stands[0])
    expect(await both[0]!.size()).toEqual({ evaluations: 300, replies: 0, traces: 600 })
  })

  test('a batch larger than a statement allows is split', async () => {
    const ledger = await freshLedger()
    const long = Array.from({ length: 3_000_000 }, (_, index) =>
      String.fromCodePoint(33 + ((index * index * 7919) % 20_011)),
    ).join('')
    await Promise.all([1, 2, 3].map((number) => keepSample(ledger, number, long.slice(number))))
    expect(await ledger.findTrace('execution-3')).toEqual(sampleTrace(3, long.slice(3)))
    expect(await ledger.size()).toMatchObject({ evaluations: 3, traces: 3 })
  })

  test('opened read-only writes nothing', async () => {
    const name = randomUUID()
    await PostgresLedger.create(database, name, 'test')
    const reader = await PostgresLedger.open(database, { name, readOnly: true })
    await expect(keepSample(reader, 1)).rejects.toThrow(/open for reading only/)
    await expect(reader.keepReply('d', sampleAnswer(1))).rejects.toThrow(/open for reading only/)
    await expect(reader.keepObservation('d', 1)).rejects.toThrow(/open for reading only/)
    await expect(reader.keepTrace(sampleTrace(1))).rejects.toThrow(/open for reading only/)
    expect(await reader.size()).toEqual({ evaluations: 0, replies: 0, traces: 0 })
  })

  test('detects a poisoned row on reading', async () => {
    const ledger = await freshLedger()
    await keepSample(ledger, 71)
    await ledger.keepReply('poisoned', sampleAnswer(1))
    await ledger.keepObservation('poisoned', 'seen')
    await database.query("UPDATE magic.evaluations SET score = 1 WHERE task = 'task-71'")
    await database.query(
      "UPDATE magic.replies SET reply = replace(reply, '1', '2') WHERE digest = 'poisoned'",
    )
    await database.query("UPDATE magic.observations SET observation = '1' WHERE digest = 'poisoned'")
    await database.query("UPDATE magic.executions SET trace = 'x' WHERE id = 'execution-71'")
    await expect(ledger.find(sampleKey(71))).rejects.toThrow(/on task 'task-71' is not what was written/)
    await expect(ledger.findReply('poisoned')).rejects.toThrow(/is damaged: the reply to request poisoned/)
    await expect(ledger.findObservation('poisoned')).rejects.toThrow(/the tool observation poisoned is not/)
    await expect(ledger.findTrace('execution-71')).rejects.toThrow(/the trace of execution execution-71/)
  })

  test('that does not exist is refused by name', async () => {
    const name = randomUUID()
    const opened = PostgresLedger.open(database, { name })
    await expect(opened).rejects.toThrow(LedgerError)
    await expect(opened).rejects.toThrow(`has no ledger ${name}`)
  })
})

describe('opening', () => {
  test('creates the tables once, however many processes start together', async () => {
    const fresh = new PostgresAddress(await postgres.database())
    const opened = await Promise.all(Array.from({ length: 8 }, () => Database.open(fresh)))
    const [first] = opened
    expect(await first!.query('SELECT version FROM magic.migrations')).toEqual([
      { version: 1 },
      { version: 2 },
      { version: 3 },
    ])
    await Promise.all(opened.map((one) => one.close()))
  })

  test('a newer version is refused', async () => {
    const fresh = await postgres.database()
    const first = await Database.open(new PostgresAddress(fresh))
    await first.query('INSERT INTO magic.migrations (version) VALUES (99)')
    await first.close()
    await expect(Database.open(new PostgresAddress(fresh))).rejects.toThrow(
      /has version 99; this version of magic knows 3/,
    )
  })

  test.for([
    ['a wrong password', (good: string) => good.replace('canary', 'wrong'), /rejects the user or password/],
    ['no such database', (good: string) => `${good}x`, /has no such database/],
    [
      'no encryption',
      (good: string) => `${good}?sslmode=verify-full`,
      /cannot be encrypted .*does not support SSL/,
    ],
    [
      'no certificate',
      (good: string) => `${good}?sslrootcert=/no/file`,
      /cannot be encrypted .*no such file/,
    ],
  ] as const)('%s is reported at once, without the password', async ([, change, message]) => {
    const failure = await Database.open(new PostgresAddress(change(address))).catch((error) => error)
    expect(failure).toBeInstanceOf(LedgerError)
    expect(failure.message).toMatch(message)
    expect(leaks(failure)).toBe(false)
  })

  test('an absent server is reported after a while, without the password', async () => {
    const gone = new PostgresAddress(address.replace(`:${postgres.port}/`, ':1/'))
    const failure = await Database.open(gone, { patienceMs: 50 }).catch((error) => error)
    expect(failure).toBeInstanceOf(LedgerError)
    expect(failure.message).toMatch(/could not be reached for 0\.05 s .*ECONNREFUSED/)
    expect(leaks(failure)).toBe(false)
  })

  test.for(['', 'ledger', 'http://u:secret@host/db', 'postgres://u:se cret@ho st/db', 'postgres:///db'])(
    'an invalid address is reported without echoing it: %s',
    (text) => {
      expect(() => new PostgresAddress(text, 'MAGIC_LEDGER')).toThrow(
        /^MAGIC_LEDGER is not a PostgreSQL address. It should look like/,
      )
    },
  )

  test('an address prints without user and password', () => {
    const here = new PostgresAddress(address)
    expect(`${here}`).toMatch(/^127\.0\.0\.1:\d+\/d\d+_\d+$/)
    expect(JSON.stringify({ here })).not.toMatch(/canary|magic/)
    const inQuery = new PostgresAddress(
      `postgres://host/db?user=magic&password=${encodeURIComponent(canaryPassword)}`,
    )
    expect(inQuery.redact(`no ${canaryPassword} or ${encodeURIComponent(canaryPassword)}`)).toBe(
      'no [redacted] or [redacted]',
    )
    expect(here.redact(`no entry with ${canaryPassword} or ${address}`)).toBe(
      'no entry with [redacted] or [redacted]',
    )
  })
})

function leaks(error: Error): boolean {
  const told = `${error.message} ${error.stack} ${JSON.stringify(error)} ${(error.cause as Error)?.stack}`
  return [canaryPassword, encodeURIComponent(canaryPassword)].some((secret) => told.includes(secret))
}
