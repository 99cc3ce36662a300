import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { learned, modelAround, tinyModel, tinySettings, trainTiny } from '../../test/tiny-training.ts'
import { directOrganisation } from '../evaluation/baseline-organisations.ts'
import { evaluate } from '../evaluation/evaluate.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import { RunError, RunFolder } from './run-folder.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-evidence-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const reference = join(work, 'reference')
const half = join(work, 'half')
beforeAll(async () => {
  await trainTiny(reference)
  const stop = new AbortController()
  await trainTiny(half, {
    signal: stop.signal,
    onEvent: (event) => event.type === 'update' && event.update === 1 && stop.abort(),
  })
  expect(new RunFolder(half).checkpoints().at(-1)).toBe(2)
  await evaluateIn(half)
})

function evaluateIn(folder: string): Promise<unknown> {
  const set = tinyTaskSet as TaskSet
  const organisation = directOrganisation()
  return evaluate({ set, model: tinyModel, organisation, folder, tasks: 2, sandbox: null })
}

let count = 0
function copyOfHalf(): RunFolder {
  const path = join(work, `copy-${++count}`)
  cpSync(half, path, { recursive: true })
  return new RunFolder(path)
}

/** Every file of a run except its lock, with its contents. */
function contentsOf(path: string): Map<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/lock\.sqlite|-wal$|-shm$/.test(name) && statSync(join(path, name)).isFile(),
  )
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(path, name), 'latin1')]))
}

function edit(file: string, from: string | RegExp, to: string): void {
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(from, to)
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
}

describe('a resume', () => {
  test.each<[string, (run: RunFolder) => void, RegExp]>([
    ['events are gone', ({ eventsFile }) => rmSync(eventsFile), /events.jsonl is missing/],
    [
      'the curve was changed',
      ({ eventsFile }) => edit(eventsFile, /"score":[\d.]+/, '"score":0.987'),
      /events.jsonl /,
    ],
    [
      'trajectories are gone',
      ({ trajectoriesFile }) => rmSync(trajectoriesFile),
      /trajectories.jsonl is missing/,
    ],
    ['the journal of calls is gone', ({ callsFile }) => rmSync(callsFile), /calls.jsonl is missing/],
    [
      'the membership was changed',
      ({ membershipFile }) => edit(membershipFile, 'shelf-4', 'shelf-9'),
      /membership.json has changed/,
    ],
    ['the ledger is gone', ({ ledgerFile }) => rmSync(ledgerFile), /ledger.sqlite is missing/],
    ['the library is gone', ({ libraryFile }) => rmSync(libraryFile), /library.yaml is missing/],
    [
      'a report was changed',
      ({ evaluationsFolder }) => edit(join(evaluationsFolder, 'test-direct/report.json'), /"n": 2/, '"n": 3'),
      /evaluation test-direct: report.json has changed: its digest does not match/,
    ],
    [
      'an evaluation is gone',
      ({ evaluationsFolder }) => rmSync(join(evaluationsFolder, 'test-direct'), { recursive: true }),
      /evaluation test-direct is missing; if that is intended, delete .*test-direct.digests.json too/,
    ],
  ])('is refused if %s, makes no call and changes nothing', async (_, change, reason) => {
    const run = copyOfHalf()
    change(run)
    const before = contentsOf(run.path)
    const model = modelAround((request, signal) => tinyModel.ask(request, signal))
    const resumed = trainTiny(run.path, { model })
    await expect(resumed).rejects.toThrow(RunError)
    await expect(resumed).rejects.toThrow(reason)
    await expect(resumed).rejects.toThrow(/Restore them\./)
    expect(model.calls).toBe(0)
    expect(contentsOf(run.path)).toEqual(before)
  })

  test.each(['seed', 'learningRate', 'updates', 'probes', 'hidden'] as const)(
    'with another %s in run.json is refused by name, although its settings come from there',
    async (field) => {
      const run = copyOfHalf()
      const { training } = run.readRecord()
      const settings = { ...training, [field]: (training[field] as number) + 1 }
      const file = join(run.path, 'run.json')
      const record = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ ...record, training: settings }))
      const updates = field === 'updates' ? { updates: record.updates + 1 } : {}
      writeFileSync(file, JSON.stringify({ ...record, ...updates, training: settings }))
      await expect(trainTiny(run.path, { settings })).rejects.toThrow(
        new RegExp(`run.json: training.${field} was .* and is `),
      )
    },
  )

  test('continues from the previous checkpoint if that matches, as the error suggests', async () => {
    const run = copyOfHalf()
    const lines = readFileSync(run.eventsFile, 'utf8').split('\n')
    writeFileSync(run.eventsFile, `${lines[0]}\n`)
    await expect(trainTiny(run.path)).rejects.toThrow(/resume with --from-update 1, which matches all files/)
    await trainTiny(run.path, { fromUpdate: 1 })
    expect(learned(run.path)).toEqual(learned(reference))
  })

  test('repeats all updates from the ledger once the checkpoints are deleted, as the error suggests', async () => {
    const run = copyOfHalf()
    for (const file of [run.eventsFile, run.trajectoriesFile, run.membershipFile, run.callsFile]) rmSync(file)
    await expect(trainTiny(run.path)).rejects.toThrow(/delete .*\/checkpoints: a resume then repeats every/)
    rmSync(join(run.path, 'checkpoints'), { recursive: true })
    const model = modelAround((request, signal) => tinyModel.ask(request, signal))
    const { spent } = await trainTiny(run.path, { model })
    expect(learned(run.path)).toEqual(learned(reference))
    // Only the third update was not made before; and the ledger does not know the self-check's call.
    expect(model.calls).toBeLessThan(spent.calls)
  })

  test('may change cap, concurrency and name; what a kill left after the checkpoint is dropped', async () => {
    const run = copyOfHalf()
    const lines = readFileSync(run.eventsFile, 'utf8').split('\n')
    writeFileSync(run.eventsFile, `${lines.join('\n')}${lines[1]!.replace('"update":1', '"update":2')}\n`)
    expect(await trainTiny(run.path, { budget: { calls: 1 }, concurrency: 3 })).toMatchObject({
      status: 'budget-reached',
    })
    await trainTiny(run.path, { budget: { calls: 10_000 } })
    expect(learned(run.path)).toEqual(learned(reference))
  })

  test('changes only the changeable fields of run.json', async () => {
    const run = copyOfHalf()
    const {
      name: _,
      concurrency: __,
      ...before
    } = JSON.parse(readFileSync(join(run.path, 'run.json'), 'utf8'))
    await trainTiny(run.path, { concurrency: 3 })
    const { name, concurrency, ...after } = JSON.parse(readFileSync(join(run.path, 'run.json'), 'utf8'))
    expect(after).toEqual(before)
    expect([name, concurrency]).toEqual([run.path.split('/').at(-1), 3])
  })
})

test('an interrupted evaluation does not continue from changed records', async () => {
  const run = copyOfHalf()
  const set = tinyTaskSet as TaskSet
  const organisation = directOrganisation()
  const start = (budget: object) =>
    evaluate({ set, model: tinyModel, organisation, folder: run, concurrency: 1, budget, sandbox: null })
  const { n, folder } = await start({ calls: 2 })
  expect(n).toBeLessThan(16)
  const records = join(folder!, 'records.jsonl')
  const text = readFileSync(records, 'utf8')
  edit(records, /"durationMs":/, '"durationMs":9')
  await expect(start({})).rejects.toThrow(
    /cannot continue: .*records.jsonl has changed: its digest does not match/,
  )
  writeFileSync(records, text)
  expect(await start({})).toMatchObject({ complete: true, n: 16 })
})

test("newly given settings are still compared with the run's", async () => {
  const settings = { ...tinySettings, learningRate: 1 }
  await expect(trainTiny(half, { settings })).rejects.toThrow(/training.learningRate was 0.0001 and is 1/)
})
