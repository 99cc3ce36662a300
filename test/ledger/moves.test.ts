import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { verify } from '../../src/evaluation/verification/verify.ts'
import { PostgresAllowanceStore } from '../../src/store/allowance/postgres-store.ts'
import { ledgerDigest } from '../../src/store/ledger/copy-ledger.ts'
import { listLedgers, removeLedger } from '../../src/store/ledger/postgres-ledgers.ts'
import { SqliteLedger } from '../../src/store/ledger/sqlite.ts'
import { moveLedger } from '../../src/store/move-ledger.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { openRunLedger } from '../../src/store/run-ledger.ts'
import { magicWith } from '../magic.ts'
import { canaryPassword, Postgres } from '../postgres/server.ts'
import { tinyTaskSet } from '../tiny-task-set.ts'
import { learned, modelAround, tinyModel, tinySettings, trainTiny } from '../tiny-training.ts'
import { sampleEvaluation, sampleKey, sampleTrace } from './samples.ts'

let postgres: Postgres
let database: string
let work: string
let whole: string
beforeAll(async () => {
  postgres = await Postgres.start()
  database = await postgres.database()
  work = mkdtempSync(join(tmpdir(), 'ledger-moves-'))
  whole = join(work, 'whole')
  await trainTiny(whole)
})
afterAll(async () => {
  await postgres?.stop()
  rmSync(work, { recursive: true, force: true })
})

/** Sets the address in the environment, for commands that only read. */
function inEnvironment(address: string): void {
  process.env['MAGIC_LEDGER'] = address
  onTestFinished(() => {
    delete process.env['MAGIC_LEDGER']
  })
}

/** A run interrupted midway by its model. */
async function begun(name: string, options: { database?: string } = {}): Promise<string> {
  const folder = join(work, name)
  const stop = new AbortController()
  const model = modelAround((request, signal, number) => {
    if (number === 12) stop.abort()
    return tinyModel.ask(request, signal)
  })
  const { status } = await trainTiny(folder, { model, signal: stop.signal, ...options })
  expect(status).toBe('interrupted')
  return folder
}

const checked = async (folder: string) => {
  const failures: string[] = []
  for await (const { name, ok, detail } of verify({
    folder: new RunFolder(folder),
    set: tinyTaskSet,
    sandbox: null,
  }))
    if (!ok) failures.push(`${name}: ${detail}`)
  return failures
}

describe('a run whose ledger is on PostgreSQL', () => {
  test('trains, is interrupted and resumes to the same weights; verifies; and its folder contains no address', async () => {
    const folder = await begun('there', { database })
    expect(existsSync(join(folder, 'ledger.sqlite'))).toBe(false)
    const seen: string[] = []
    const model = modelAround((request, signal) => {
      seen.push(request.user)
      return tinyModel.ask(request, signal)
    })
    expect(await trainTiny(folder, { database, model })).toMatchObject({ status: 'finished' })
    expect(learned(folder)).toEqual(learned(whole))
    inEnvironment(database)
    expect(await checked(folder)).toEqual([])
    const ledger = await openRunLedger(new RunFolder(folder), { readOnly: true })
    const original = await SqliteLedger.open(join(whole, 'ledger.sqlite'), { readOnly: true })
    expect(await ledger.spending()).toEqual(await original.spending())
    await Promise.all([ledger.close(), original.close()])
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, file)
      const bytes = existsSync(path) && !readdirSync(work).includes(file) ? readIfFile(path) : ''
      for (const secret of [canaryPassword, encodeURIComponent(canaryPassword), `:${postgres.port}/`])
        expect(bytes.includes(secret), `${file} has ${secret}`).toBe(false)
    }
  })

  test('says what is missing if its address is not given', async () => {
    const folder = await begun('unsaid', { database })
    const message = /The ledger of the run unsaid is on a PostgreSQL.*Set MAGIC_LEDGER/
    await expect(trainTiny(folder)).rejects.toThrow(message)
    await expect(openRunLedger(new RunFolder(folder), { readOnly: true })).rejects.toThrow(message)
    const other = await postgres.database()
    await expect(trainTiny(folder, { database: other })).rejects.toThrow(/has no ledger [0-9a-f-]{36}/)
    expect((await checked(folder)).join()).toMatch(message)
    // Nothing was touched.
    expect(await trainTiny(folder, { database })).toMatchObject({ status: 'finished' })
    expect(learned(folder)).toEqual(learned(whole))
  })

  test('starts with the evaluations of another run and pays for nothing again', async () => {
    const folder = join(work, 'known')
    const model = modelAround((request, signal) => tinyModel.ask(request, signal))
    await trainTiny(folder, { database, ledger: join(whole, 'ledger.sqlite'), model })
    expect(learned(folder)).toEqual(learned(whole))
    // The self-check asks once.
    expect(model.calls).toBe(1)
  })
})

describe('moving', () => {
  test('moves an interrupted run there and back, and reaches the same weights each time', async () => {
    const folder = await begun('moved')
    const run = new RunFolder(folder)
    const address = new PostgresAddress(database)
    inEnvironment(database)
    const there = await moveLedger(run, address)
    expect(there.evaluations.rows).toBeGreaterThan(0)
    const copy = join(work, 'moved-there')
    cpSync(folder, copy, { recursive: true })
    await expect(moveLedger(run, address)).rejects.toThrow(/is already on a PostgreSQL/)
    expect(await moveLedger(run, 'sqlite')).toEqual(there)
    await expect(moveLedger(run, 'sqlite')).rejects.toThrow(/is already in its folder/)
    for (const place of [folder, copy]) {
      expect(await trainTiny(place)).toMatchObject({ status: 'finished' })
      expect(learned(place)).toEqual(learned(whole))
      expect(await checked(place)).toEqual([])
    }
    // Having grown there, it replaces the file left behind.
    await moveLedger(new RunFolder(copy), 'sqlite')
    expect(await checked(copy)).toEqual([])
  })

  test('continues where it stopped when cut short, and the run keeps its ledger', async () => {
    const folder = join(work, 'cut')
    cpSync(whole, folder, { recursive: true })
    const run = new RunFolder(folder)
    const ledger = await SqliteLedger.open(run.ledgerFile)
    const numbers = Array.from({ length: 1500 }, (_, number) => number)
    await Promise.all(
      numbers.map((number) => ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number))),
    )
    const expected = await ledgerDigest(ledger)
    await ledger.close()
    const address = new PostgresAddress(database)
    for (const stopAt of [600, 1600, 2100, 3000]) {
      const stop = new AbortController()
      const moved = moveLedger(run, address, {
        signal: stop.signal,
        onProgress: (_, rows) => rows >= stopAt && stop.abort(new Error('cut')),
      })
      await expect(moved).rejects.toThrow('cut')
      expect(existsSync(run.ledgerPlaceFile)).toBe(false)
    }
    // Begun on one PostgreSQL, it can be finished on another.
    const elsewhere = join(work, 'cut-elsewhere')
    cpSync(folder, elsewhere, { recursive: true })
    const other = new PostgresAddress(await postgres.database())
    const shown = new Set<string>()
    const onProgress = (phase: string, rows: number, total: number) => shown.add(`${phase} ${rows <= total}`)
    expect(await moveLedger(new RunFolder(elsewhere), other, { onProgress })).toEqual(expected)
    expect(shown).toEqual(new Set(['copying true', 'comparing true']))
    expect(await moveLedger(run, address)).toEqual(expected)
  })

  test('does not accept a damaged or extra row as a copy', async () => {
    const folder = join(work, 'damaged')
    cpSync(whole, folder, { recursive: true })
    const run = new RunFolder(folder)
    const address = new PostgresAddress(database)
    inEnvironment(database)
    await moveLedger(run, address)
    const { name } = (await listed()).find(({ title }) => title === 'damaged')!
    const id = `(SELECT id FROM magic.ledgers WHERE name = '${name}')`
    await postgres.query(`UPDATE magic.replies SET reply = '{}' WHERE ledger = ${id}`, database)
    await expect(moveLedger(run, 'sqlite')).rejects.toThrow(/A row of 'replies' is damaged/)
    await postgres.query(`DELETE FROM magic.replies WHERE ledger = ${id}`, database)
    await expect(moveLedger(run, 'sqlite')).rejects.toThrow(/'replies' has 0 rows/)
    expect(existsSync(run.ledgerPlaceFile)).toBe(true)
  })
})

async function listed() {
  const opened = await Database.open(new PostgresAddress(database))
  return await listLedgers(opened).finally(() => opened.close())
}

test('removing one ledger leaves the others', async () => {
  const folder = join(work, 'removed')
  await trainTiny(folder, { database, settings: { ...tinySettings, updates: 1 } })
  const before = await listed()
  const { name, evaluations } = before.find(({ title }) => title === 'removed')!
  expect(evaluations).toBeGreaterThan(0)
  const opened = await Database.open(new PostgresAddress(database))
  await PostgresAllowanceStore.open(opened, { account: name, limiter: 'p/m' })
  await removeLedger(opened, name, 3)
  expect(await opened.query('SELECT FROM magic.accounts WHERE name = $1', [name])).toEqual([])
  await expect(removeLedger(opened, name)).rejects.toThrow(/There is no ledger/)
  await opened.close()
  expect(await listed()).toEqual(before.filter((one) => one.name !== name))
  const left = await postgres.query(
    'SELECT DISTINCT ledger FROM magic.executions WHERE ledger NOT IN (SELECT id FROM magic.ledgers)',
    database,
  )
  expect(left.rows).toEqual([])
})

test('works on the command line: train there, move here, resume, and never show the password', async () => {
  const environment = { MAGIC_LEDGER: database, MAGIC_RUNS_DIR: join(work, 'runs') }
  const said: string[] = []
  const magic = async (...words: string[]) => {
    const { code, stdout, stderr } = await magicWith(environment, ...words)
    said.push(stdout, stderr)
    return { code, stdout, stderr }
  }
  const trained = await magic(
    ...'train synthetic --method paper --updates 1 --probes 1 --encoder lexical --name first --set hidden=8 trajectories=2 maxUnits=2'.split(
      ' ',
    ),
  )
  expect(trained.code, trained.stderr).toBe(0)
  expect(existsSync(join(work, 'runs/first/ledger.json'))).toBe(true)
  const moved = await magic('ledger', 'copy', 'first', 'sqlite', '--json')
  expect(JSON.parse(moved.stdout)).toMatchObject({ from: 'first', to: 'sqlite' })
  expect(existsSync(join(work, 'runs/first/ledger.json'))).toBe(false)
  expect((await magic('ledger', 'copy', 'first', 'postgres')).stdout).toMatch(
    /Source and copy hold the same rows/,
  )
  expect((await magic('ledger', 'list')).stdout).toMatch(/ first$/m)
  expect((await magic('ledger', 'copy', 'first', join(work, 'snapshot.sqlite'))).code).toBe(0)
  expect((await magic('verify', 'first')).code).toBe(0)
  expect((await magic('doctor')).stdout).toMatch(
    /✓ ledger +PostgreSQL at 127\.0\.0\.1:\d+\/\w+, ledgers: \d+/,
  )
  const lost = await magicWith({ ...environment, MAGIC_LEDGER: '' }, 'verify', 'first')
  said.push(lost.stdout, lost.stderr)
  expect(lost.stderr).toMatch(/Set MAGIC_LEDGER/)
  expect(lost).toMatchObject({ code: 2, stdout: '' })
  const wrong = { ...environment, MAGIC_LEDGER: database.replace('canary', 'canary-wrong') }
  const refused = await magicWith(wrong, 'ledger', 'list')
  const doctor = await magicWith(wrong, 'doctor')
  said.push(doctor.stdout, doctor.stderr)
  expect(doctor.stdout).toMatch(/✗ ledger +The PostgreSQL at .* rejects the user or password/)
  said.push(refused.stdout, refused.stderr)
  expect(refused).toMatchObject({ code: 2 })
  expect(said.join()).not.toMatch(/Pa55/)
})

function readIfFile(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
