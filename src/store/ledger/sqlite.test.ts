import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from '../../../test/ledger/samples.ts'
import { ledgerContract } from './evaluation-ledger.contract.ts'
import { isSoundSqlite, openLedgerFile } from './ledger-file.ts'
import { SqliteLedger } from './sqlite.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-'))
  path = join(folder, 'ledger.sqlite')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const keepSample = (ledger: SqliteLedger, number: number) =>
  ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number))

describe('a ledger in memory', () => ledgerContract(() => SqliteLedger.open(':memory:')))

describe('a ledger in a file', () => {
  ledgerContract(() => SqliteLedger.open(path))

  test('is restored on reopening', async () => {
    const first = await SqliteLedger.open(path)
    await keepSample(first, 1)
    await first.keepReply('d', sampleAnswer(1))
    await first.keepObservation('d', { status: 'ok', result: { stdout: '1\n' } })
    const spending = await first.spending()
    await first.close()
    const again = await SqliteLedger.open(path)
    expect(await again.find(sampleKey(1))).toEqual(sampleEvaluation(1))
    expect(await again.findReply('d')).toEqual(sampleAnswer(1))
    expect(await again.findObservation('d')).toEqual({ status: 'ok', result: { stdout: '1\n' } })
    expect(await again.spending()).toEqual(spending)
    expect(await again.findTrace('execution-1')).toEqual(sampleTrace(1))
    await again.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('closing waits for pending writes and may be repeated', async () => {
    const ledger = await SqliteLedger.open(path)
    const writes = [1, 2, 3].map((number) => keepSample(ledger, number))
    const observed = ledger.keepObservation('d', 1)
    await ledger.close()
    await ledger.close()
    await Promise.all([...writes, observed])
    const again = await SqliteLedger.open(path, { readOnly: true })
    expect(await again.findObservation('d')).toBe(1)
    expect(await again.size()).toEqual({ evaluations: 3, replies: 0, traces: 3 })
    await again.close()
  })

  test('keeps traces small', async () => {
    const ledger = await SqliteLedger.open(path)
    for (let number = 0; number < 20; number += 1)
      await ledger.keepTrace(sampleTrace(number, 'You are a careful solver. '.repeat(1000)))
    await ledger.close()
    expect(statSync(path).size).toBeLessThan(20 * 26_000 * 0.2)
  })

  test('commits durably with a write-ahead log, and never blocks inside SQLite', async () => {
    const database = await openLedgerFile(path)
    const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get()!)[0]
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('synchronous')).toBe(2)
    expect(pragma('busy_timeout')).toBe(0)
    database.close()
  })
})

describe('read-only', () => {
  test('sees every acknowledged write, during and after writing', async () => {
    const writer = await SqliteLedger.open(path)
    const reader = await SqliteLedger.open(path, { readOnly: true })
    for (let number = 0; number < 20; number += 1) {
      const write = keepSample(writer, number)
      await reader.find(sampleKey(number))
      await write
      expect(await reader.find(sampleKey(number))).toEqual(sampleEvaluation(number))
    }
    await writer.close()
    expect(await reader.size()).toEqual({ evaluations: 20, replies: 0, traces: 20 })
    await reader.close()
  })

  test('works while a writer holds the lock', async () => {
    const writer = await SqliteLedger.open(path)
    await keepSample(writer, 1)
    const holder = new DatabaseSync(path)
    holder.exec('BEGIN IMMEDIATE')
    const reader = await SqliteLedger.open(path, { readOnly: true, patienceMs: 0 })
    expect(await reader.find(sampleKey(1))).toEqual(sampleEvaluation(1))
    await reader.close()
    holder.close()
    await writer.close()
  })

  test('writes nothing and creates no file', async () => {
    await expect(SqliteLedger.open(path, { readOnly: true })).rejects.toThrow(/could not be read or written/)
    expect(existsSync(path)).toBe(false)
    await (await SqliteLedger.open(path)).close()
    const reader = await SqliteLedger.open(path, { readOnly: true })
    await expect(keepSample(reader, 1)).rejects.toThrow(/open for reading only/)
    await expect(reader.keepReply('d', sampleAnswer(1))).rejects.toThrow(/open for reading only/)
    await expect(reader.keepObservation('d', {})).rejects.toThrow(/open for reading only/)
    expect(await reader.findObservation('d')).toBeUndefined()
    expect(await reader.spending()).toMatchObject({ calls: 0 })
    await expect(reader.keepTrace(sampleTrace(1))).rejects.toThrow(/open for reading only/)
    await reader.close()
  })
})

test.for([
  ['3.51.3', true],
  ['3.51.10', true],
  ['3.53.4', true],
  ['4.0.0', true],
  ['3.50.7', true],
  ['3.44.6', true],
  ['3.51.2', false],
  ['3.50.6', false],
  ['3.49.9', false],
  ['3.45.0', false],
  ['3.44.5', false],
  ['2.8.17', false],
] as const)('SQLite %s is sound: %s', ([version, sound]) => {
  expect(isSoundSqlite(version)).toBe(sound)
})
