import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { tinyModel, trainTiny } from '../../test/tiny-training.ts'
import { creditTrajectory } from '../learning/trajectory.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import { readLines } from './durable-file.ts'
import { evaluate, storedEvaluations } from './evaluate.ts'
import { directOrganisation } from './organisation.ts'
import { RunFolder } from './run-folder.ts'
import type { TrajectoryRecord } from './update-record.ts'
import { verify } from './verify.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-verify-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const trained = join(work, 'trained')
beforeAll(async () => {
  await trainTiny(trained)
  await evaluate({
    set,
    model: tinyModel,
    organisation: directOrganisation(),
    folder: trained,
    sandbox: null,
  })
})

const set = tinyTaskSet as TaskSet
let count = 0

/** A copy of the run, with something done to it. */
function tampered(change: (run: RunFolder) => void): RunFolder {
  const path = join(work, `copy-${++count}`)
  cpSync(trained, path, { recursive: true })
  const run = new RunFolder(path)
  change(run)
  return run
}

/** The names of what is wrong, with what is said about it. */
async function wrongIn(folder: RunFolder, now: TaskSet = set): Promise<Record<string, string>> {
  const wrong: Record<string, string> = {}
  for await (const { name, ok, detail } of verify({ folder, set: now })) if (!ok) wrong[name] = detail
  return wrong
}

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const changed = change(text)
  if (changed === text) throw new Error(`Nothing was changed in ${file}.`)
  writeFileSync(file, changed)
}

/** Changes a line of trajectories and puts it back. */
function editTrajectories(run: RunFolder, change: (lines: TrajectoryRecord[]) => TrajectoryRecord[]): void {
  const lines = change(readLines(run.trajectoriesFile) as TrajectoryRecord[])
  writeFileSync(run.trajectoriesFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

test('a run that nobody has touched is found right in everything', async () => {
  const found = []
  for await (const one of verify({ folder: new RunFolder(trained), set })) found.push(one)
  expect(found.filter(({ ok }) => !ok)).toEqual([])
  expect(found.map(({ name }) => name)).toEqual([
    'data: train',
    'data: test',
    'library and prompts',
    'executor settings',
    'checkpoint 2',
    'checkpoint 3',
    'trajectories',
    'scores in the ledger',
    `evaluation ${storedEvaluations(new RunFolder(trained))[0]!.folder}`,
  ])
})

test('a changed reference is found in the data and in the scores', async () => {
  const train = set.splits['train']!
  const references = new Map(train.references).set('shelf-0', { kind: 'number-text', text: '1' })
  const now = { ...set, splits: { ...set.splits, train: { ...train, references } } }
  const wrong = await wrongIn(new RunFolder(trained), now)
  expect(wrong['data: train']).toBe('tasks or references have changed')
  expect(wrong['scores in the ledger']).toMatch(/'shelf-0' is not what was evaluated/)
})

test('a changed library is found', async () => {
  const run = tampered(({ libraryFile }) => edit(libraryFile, (text) => text.replace(/You are/, 'You were')))
  expect(await wrongIn(run)).toEqual({
    'library and prompts': expect.stringMatching(/library\.yaml was changed/),
  })
})

test('changed settings are found', async () => {
  const run = tampered(({ path }) =>
    edit(join(path, 'run.json'), (text) => text.replace('"temperature": 0', '"temperature": 1')),
  )
  expect(Object.keys(await wrongIn(run))).toContain('executor settings')
})

test.each(['policy.safetensors', 'optimizer.safetensors'])('a flipped byte in %s is found', async (name) => {
  const run = tampered((copy) => {
    const file = join(copy.checkpointPath(3), name)
    const bytes = readFileSync(file)
    bytes[bytes.length - 5]! ^= 4
    writeFileSync(file, bytes)
  })
  expect(await wrongIn(run)).toEqual({ 'checkpoint 3': expect.stringMatching(/is damaged/) })
})

test('a changed score of a trajectory is found, by its credit', async () => {
  const run = tampered((copy) =>
    editTrajectories(copy, ([first, ...rest]) => {
      const [one, ...others] = first!.trajectories
      const changed = { ...one!, terminalScore: 1 - one!.terminalScore }
      return [{ ...first!, trajectories: [changed, ...others] }, ...rest]
    }),
  )
  expect(await wrongIn(run)).toEqual({
    trajectories: 'the credit of trajectory 0 of update 0 comes out differently',
  })
})

test('a changed score with fitting credit is found, by the ledger', async () => {
  const run = tampered((copy) =>
    editTrajectories(copy, ([first, ...rest]) => {
      const [one, ...others] = first!.trajectories
      const changed = creditTrajectory({ ...one!, terminalScore: 1 - one!.terminalScore }, one!.settings)
      return [{ ...first!, trajectories: [changed, ...others] }, ...rest]
    }),
  )
  expect((await wrongIn(run))['trajectories']).toMatch(
    /^trajectory 0 of update 0 has the score . on '.*', the ledger ./,
  )
})

test('credit that was computed with other reward settings than the run has is found', async () => {
  const run = tampered((copy) =>
    editTrajectories(copy, ([first, ...rest]) => {
      const [one, ...others] = first!.trajectories
      const changed = creditTrajectory(one!, { ...one!.settings, beta: 0.5 })
      return [{ ...first!, trajectories: [changed, ...others] }, ...rest]
    }),
  )
  expect(await wrongIn(run)).toEqual({
    trajectories: 'trajectory 0 of update 0 has other reward settings than the run',
  })
})

test('missing and damaged lines of trajectories are found', async () => {
  const shorter = tampered((copy) => editTrajectories(copy, (lines) => lines.slice(0, -1)))
  expect(await wrongIn(shorter)).toEqual({ trajectories: 'those of update 2 are missing' })
  const gap = tampered((copy) => editTrajectories(copy, (lines) => lines.filter((_, index) => index !== 1)))
  expect(await wrongIn(gap)).toEqual({ trajectories: 'those of update 1 are missing' })
  const broken = tampered((copy) =>
    edit(copy.trajectoriesFile, (text) => text.replace('"trajectories":', '"trajectories"')),
  )
  expect((await wrongIn(broken))['trajectories']).toMatch(/^Line 1 of .* is damaged/)
})

test('a changed answer in the ledger is found, whether its checksum fits or not', async () => {
  const change = (fix: boolean) =>
    tampered(({ ledgerFile }) => {
      const database = new DatabaseSync(ledgerFile)
      const row = database.prepare('SELECT * FROM evaluations WHERE score = 1 LIMIT 1').get()!
      const detail = (row['detail'] as string).replace(/"answer":"[^"]*"/, '"answer":"-77"')
      const { graph, task, data_version, executor, score, status, execution } = row
      const parts = [graph, task, data_version, executor, score, status, execution, detail]
      const crc = fix ? crc32(JSON.stringify(parts)) : row['crc']!
      const update = database.prepare('UPDATE evaluations SET detail = ?, crc = ? WHERE place = ?')
      update.run(detail, crc as number, row['place'] as number)
      database.close()
    })
  const found = async (run: RunFolder) => (await wrongIn(run))['scores in the ledger']
  expect(await found(change(true))).toMatch(/^an answer to '.*' scored 1 and now scores 0$/)
  expect(await found(change(false))).toMatch(/is not what was written/)
})

test('a changed answer of an evaluation is found', async () => {
  const run = tampered((copy) => {
    const { folder, records } = storedEvaluations(copy)[0]!
    const right = records.find(({ score }) => score === 1)!
    edit(join(folder, 'records.jsonl'), (text) =>
      text.replace(JSON.stringify(right), JSON.stringify({ ...right, answer: '-77' })),
    )
  })
  const wrong = await wrongIn(run)
  expect(Object.values(wrong)).toEqual([expect.stringMatching(/scored 1 and now scores 0/)])
})

test('an evaluation that cannot be scored again is found, and does not end the verification', async () => {
  const test = set.splits['test']!
  const without = (id: string): TaskSet => ({
    ...set,
    splits: {
      ...set.splits,
      test: {
        tasks: test.tasks.filter((task) => task.id !== id),
        references: new Map([...test.references].filter(([key]) => key !== id)),
      },
    },
  })
  const gone = await wrongIn(new RunFolder(trained), without(test.tasks[3]!.id))
  expect(Object.entries(gone)).toEqual([
    ['data: test', 'tasks or references have changed'],
    [expect.stringMatching(/^evaluation /), `there is no task '${test.tasks[3]!.id}' any more`],
  ])
  const broken = tampered((copy) => {
    const { folder } = storedEvaluations(copy)[0]!
    edit(join(folder, 'records.jsonl'), (text) => text.replace('"task":', '"task"'))
  })
  expect(await wrongIn(broken)).toEqual({ evaluations: expect.stringMatching(/^Line 1 of .* is damaged/) })
})

test('other words of a question, and a record that stands twice, are found in an evaluation', async () => {
  const test = set.splits['test']!
  const [first, ...rest] = test.tasks
  const tasks = [{ ...first!, question: 'How many?' }, ...rest]
  const reworded = { ...set, splits: { ...set.splits, test: { ...test, tasks } } }
  expect(Object.values(await wrongIn(new RunFolder(trained), reworded))).toContain(
    'the test questions or their references have changed since',
  )
  const twice = tampered((copy) => {
    const { folder } = storedEvaluations(copy)[0]!
    edit(join(folder, 'records.jsonl'), (text) => text + text.slice(0, text.indexOf('\n') + 1))
  })
  expect(Object.values(await wrongIn(twice))).toEqual([
    '1 of its records are of questions that it has already',
  ])
})
