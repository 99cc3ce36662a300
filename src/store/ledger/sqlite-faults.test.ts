import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Child } from '../../../test/ledger/child.ts'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from '../../../test/ledger/samples.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { LedgerError } from './ledger-error.ts'
import { SqliteLedger } from './sqlite.ts'

const writerScript = new URL('../../../test/ledger/writer.ts', import.meta.url)
const holderScript = new URL('../../../test/ledger/lock-holder.ts', import.meta.url)

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-faults-'))
  path = join(folder, 'ledger.sqlite')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const keepSample = (ledger: SqliteLedger, number: number, text?: string) =>
  ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number, text))

const sampleObservation = (number: number) => ({ status: 'ok', result: { stdout: `${number}\n` } })

async function makeLedger(count: number): Promise<void> {
  const ledger = await SqliteLedger.open(path)
  await Promise.all(Array.from({ length: count }, (_, number) => keepSample(ledger, number)))
  await Promise.all(
    Array.from({ length: count }, (_, number) => ledger.keepReply(`request-${number}`, sampleAnswer(number))),
  )
  await Promise.all(
    Array.from({ length: count }, (_, number) =>
      ledger.keepObservation(`look-${number}`, sampleObservation(number)),
    ),
  )
  await ledger.close()
}

test('after kill -9 at any moment, acknowledged entries exist and none is partial', async () => {
  const random = deriveRandom(1, 'kill moments')
  const acknowledged = new Set<number>()
  for (let kill = 0; kill < 20; kill += 1) {
    const first = kill * 100_000
    const writer = new Child(writerScript, path, String(first), '100000')
    // The first kills hit while the file is opened, the later ones while it is written.
    if (kill > 2) await writer.untilLines(1 + Math.floor(random.uniform() * 40))
    await sleep(random.uniform() * (kill > 2 ? 15 : 250))
    await writer.kill()
    for (const line of writer.lines) if (line !== 'open') acknowledged.add(Number(line))

    // A reader opens it as the dead writer left it, before any repair.
    if (acknowledged.size > 0) {
      const reader = await SqliteLedger.open(path, { readOnly: true })
      const last = Math.max(...acknowledged)
      expect(await reader.find(sampleKey(last))).toEqual(sampleEvaluation(last))
      await reader.close()
    }
    const ledger = await SqliteLedger.open(path)
    const listed = new Set<number>()
    for await (const { key, evaluation } of ledger.entries()) {
      const number = Number(key.task.slice('task-'.length))
      expect(evaluation).toEqual(sampleEvaluation(number))
      expect(await ledger.findTrace(evaluation.execution)).toMatchObject({ execution: `execution-${number}` })
      expect(await ledger.findReply(`request-${number}`)).toEqual(sampleAnswer(number))
      listed.add(number)
    }
    expect([...acknowledged].filter((number) => !listed.has(number))).toEqual([])
    const { evaluations, traces } = await ledger.size()
    expect(traces).toBe(evaluations)
    await ledger.close()
  }
  expect(acknowledged.size).toBeGreaterThan(100)
})

describe('a full disk', () => {
  test('is reported with path and size; nothing is lost, and writing continues once there is room', async () => {
    const small = await SqliteLedger.open(path, { maxPages: 40 })
    const incompressible = Array.from({ length: 30_000 }, (_, index) =>
      String.fromCodePoint(33 + ((index * index * 7919) % 20_011)),
    ).join('')
    const kept: number[] = []
    let refusal: unknown
    for (let number = 0; refusal === undefined && number < 100; number += 1) {
      await keepSample(small, number, incompressible.slice(number)).then(
        () => kept.push(number),
        (error) => {
          refusal = error
        },
      )
    }
    expect(refusal).toBeInstanceOf(LedgerError)
    expect((refusal as Error).message).toMatch(
      /full: \d{4,} more bytes do not fit into the ledger .*free some disk space/,
    )
    expect(kept.length).toBeGreaterThan(0)
    for (const number of kept) expect(await small.find(sampleKey(number))).toEqual(sampleEvaluation(number))
    expect(await small.size()).toEqual({ evaluations: kept.length, replies: 0, traces: kept.length })
    await small.close()
    const roomy = await SqliteLedger.open(path)
    await keepSample(roomy, kept.length)
    expect(await roomy.size()).toMatchObject({ evaluations: kept.length + 1 })
    await roomy.close()
  })

  test('fails every write of the batch', async () => {
    const small = await SqliteLedger.open(path, { maxPages: 20 })
    const writes = Array.from({ length: 300 }, (_, number) => keepSample(small, number))
    const outcomes = await Promise.allSettled(writes)
    const { evaluations, traces } = await small.size()
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(evaluations)
    expect(traces).toBe(evaluations)
    expect(evaluations).toBe(0)
    await small.close()
  })
})

describe('locked by another process', () => {
  test('for half a second: it waits without blocking this process', async () => {
    const ledger = await SqliteLedger.open(path)
    const holder = new Child(holderScript, 'sqlite', path)
    await holder.untilLines(1)
    let turns = 0
    const working = setInterval(() => {
      turns += 1
      if (turns === 50) holder.process.stdin!.write('end\n')
    }, 10)
    await keepSample(ledger, 1)
    clearInterval(working)
    expect(turns).toBeGreaterThanOrEqual(50)
    expect(await ledger.find(sampleKey(1))).toEqual(sampleEvaluation(1))
    await ledger.close()
    await holder.ended
  })

  test('forever: fails with a clear error after the stated time, also on opening', async () => {
    const ledger = await SqliteLedger.open(path, { patienceMs: 200 })
    const holder = new Child(holderScript, 'sqlite', path)
    await holder.untilLines(1)
    const refused = keepSample(ledger, 1)
    await expect(refused).rejects.toThrow(/stayed locked by another process for 0\.2 s/)
    expect(await ledger.find(sampleKey(1))).toBeUndefined()
    await holder.kill()
    await keepSample(ledger, 1)
    expect(await ledger.find(sampleKey(1))).toEqual(sampleEvaluation(1))
    await ledger.close()
  })
})

test('two processes that create and write one ledger concurrently both succeed', async () => {
  const writers = [new Child(writerScript, path, '0', '60'), new Child(writerScript, path, '40', '60')]
  await Promise.all(writers.map((writer) => writer.ended))
  expect(writers.map((writer) => writer.process.exitCode)).toEqual([0, 0])
  const ledger = await SqliteLedger.open(path)
  expect(await ledger.size()).toEqual({ evaluations: 100, replies: 100, traces: 100 })
  await ledger.close()
})

describe('a damaged file', () => {
  test('cut off anywhere is refused with a remedy', async () => {
    await makeLedger(60)
    const whole = readFileSync(path)
    for (let length = 4096; length < whole.length; length += 4096) {
      for (const bytes of [length, length - 1000]) {
        writeFileSync(path, whole.subarray(0, bytes))
        await expect(SqliteLedger.open(path), `${bytes} bytes`).rejects.toThrow(/is damaged/)
      }
    }
    await expect(SqliteLedger.open(path)).rejects.toThrow(
      /is damaged: .*Restore it from a copy, or move it away/,
    )
    expect(readFileSync(path)).toEqual(whole.subarray(0, statSync(path).size))
  })

  test('with a flipped byte never returns anything that was not written', async () => {
    const count = 60
    await makeLedger(count)
    const original = join(folder, 'original.sqlite')
    copyFileSync(path, original)
    const whole = readFileSync(original)
    const random = deriveRandom(2, 'flipped bytes')
    let noticed = 0
    for (let flip = 0; flip < 150; flip += 1) {
      const damaged = Buffer.from(whole)
      // Every third flip hits the header and schema, where a byte matters most.
      const at = Math.floor(random.uniform() * (flip % 3 === 0 ? 200 : whole.length))
      damaged[at] = damaged[at]! ^ (1 << Math.floor(random.uniform() * 8))
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
      writeFileSync(path, damaged)
      try {
        // A reader does not check all pages first, as in a large file: reading itself must detect damage.
        const ledger = await SqliteLedger.open(path, { readOnly: flip % 2 === 0 })
        try {
          for (let number = 0; number < count; number += 1) await expectOriginalOrNothing(ledger, number)
        } finally {
          await ledger.close()
        }
      } catch (error) {
        expect(error, `byte ${at}`).toBeInstanceOf(LedgerError)
        noticed += 1
      }
    }
    expect(noticed).toBeGreaterThan(50)
  })

  async function expectOriginalOrNothing(ledger: SqliteLedger, number: number): Promise<void> {
    expect([undefined, sampleEvaluation(number)]).toContainEqual(await ledger.find(sampleKey(number)))
    expect([undefined, sampleAnswer(number)]).toContainEqual(await ledger.findReply(`request-${number}`))
    expect([undefined, sampleObservation(number)]).toContainEqual(
      await ledger.findObservation(`look-${number}`),
    )
    expect([undefined, sampleTrace(number)]).toContainEqual(await ledger.findTrace(`execution-${number}`))
  }

  test('a poisoned score is detected on reading', async () => {
    await makeLedger(3)
    const poison = new DatabaseSync(path)
    poison.exec("UPDATE evaluations SET score = 9e999 WHERE task = 'task-1'")
    poison.close()
    const ledger = await SqliteLedger.open(path)
    expect(await ledger.find(sampleKey(0))).toEqual(sampleEvaluation(0))
    await expect(ledger.find(sampleKey(1))).rejects.toThrow(/on task 'task-1' is not what was written/)
    await ledger.close()
  })

  test('a poisoned observation is detected on reading', async () => {
    await makeLedger(3)
    const poison = new DatabaseSync(path)
    poison.exec(
      "UPDATE observations SET observation = replace(observation, '1', '2') WHERE digest = 'look-1'",
    )
    poison.close()
    const ledger = await SqliteLedger.open(path)
    expect(await ledger.findObservation('look-0')).toEqual(sampleObservation(0))
    const read = ledger.findObservation('look-1')
    await expect(read).rejects.toThrow(/is damaged/)
    await expect(read).rejects.toThrow(/the tool observation look-1 is not what was written/)
    await ledger.close()
  })
})

describe('a foreign file', () => {
  test.for([
    ['a newer', 'UPDATE ledger SET format = 3', 3],
    ['the first', 'DROP TABLE observations; UPDATE ledger SET format = 1', 1],
  ] as const)('of %s format is refused and left unchanged', async ([, change, found]) => {
    await makeLedger(1)
    const other = new DatabaseSync(path)
    other.exec(change)
    other.close()
    const before = readFileSync(path)
    await expect(SqliteLedger.open(path)).rejects.toThrow(/has format/)
    await expect(SqliteLedger.open(path, { readOnly: true })).rejects.toThrow(
      `has format ${found}; this version knows format 2. Use the version that wrote it`,
    )
    expect(readFileSync(path)).toEqual(before)
  })

  test('of another program, or not a database, is refused and left unchanged', async () => {
    const other = new DatabaseSync(path)
    other.exec('CREATE TABLE notes (text)')
    other.close()
    const before = readFileSync(path)
    await expect(SqliteLedger.open(path)).rejects.toThrow(/is an SQLite file, but not a ledger/)
    expect(readFileSync(path)).toEqual(before)
    writeFileSync(path, '{"not": "a database"}'.repeat(100))
    await expect(SqliteLedger.open(path)).rejects.toThrow(/is damaged/)
    truncateSync(path, 0)
    await (await SqliteLedger.open(path)).close()
  })

  test('a missing folder is refused', async () => {
    await expect(SqliteLedger.open(join(folder, 'none', 'ledger.sqlite'))).rejects.toThrow(
      /could not be read or written .*Check its disk, its folder/,
    )
  })
})
