import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tinyTaskSet } from '../../../test/tiny-task-set.ts'
import { tinyModel, trainTiny } from '../../../test/tiny-training.ts'
import { creditTrajectory } from '../../learning/trajectory.ts'
import { readLines } from '../../store/durable-file.ts'
import { RunFolder } from '../../store/run-folder.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import type { TrajectoryRecord } from '../../training/update-record.ts'
import { directOrganisation } from '../baseline-organisations.ts'
import { evaluate, storedEvaluations } from '../evaluate.ts'
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

/** A copy of the run with a modification. */
function tampered(change: (run: RunFolder) => void): RunFolder {
  const path = join(work, `copy-${++count}`)
  cpSync(trained, path, { recursive: true })
  const run = new RunFolder(path)
  change(run)
  return run
}

/** The names of failed checks with their details. */
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

/** Changes one line of the trajectories. */
function editTrajectories(run: RunFolder, change: (lines: TrajectoryRecord[]) => TrajectoryRecord[]): void {
  const lines = change(readLines(run.trajectoriesFile) as TrajectoryRecord[])
  writeFileSync(run.trajectoriesFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

test('an untouched run passes every check', async () => {
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
    'settings and history',
    'curves',
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
  expect(wrong['scores in the ledger']).toMatch(/'shelf-0' has changed since it was evaluated/)
})

test('a changed library is found', async () => {
  const run = tampered(({ libraryFile }) => edit(libraryFile, (text) => text.replace(/You are/, 'You were')))
  expect(await wrongIn(run)).toEqual({
    'library and prompts': expect.stringMatching(/library\.yaml was changed/),
    'settings and history': 'library.yaml has changed: its digest does not match',
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

test.each([
  ['score', 0.99],
  ['query', 'shelf-1'],
  ['temperature', 0.3],
  ['returns', [[1]]],
])('a curve with a changed %s is found, by the trajectories and by its digest', async (field, value) => {
  const run = tampered((copy) => {
    const lines = readLines(copy.eventsFile) as Record<string, unknown>[]
    const changed = lines.map((line) => `${JSON.stringify({ ...line, [field]: value })}\n`)
    writeFileSync(copy.eventsFile, changed.join(''))
  })
  const wrong = await wrongIn(run)
  expect(wrong['curves']).toMatch(`events.jsonl says '${field}' of update`)
  expect(wrong['settings and history']).toMatch(/^events.jsonl (has changed|is shorter)/)
})

test('missing events are found', async () => {
  const run = tampered((copy) => edit(copy.eventsFile, (text) => text.replace(/[^\n]*\n$/, '')))
  expect((await wrongIn(run))['curves']).toBe('events.jsonl has 2 of 3 updates')
})

test.each([
  ['metric', 'pass@1'],
  ['model', 'openai/gpt'],
  ['score', { mean: 0.99, low: 0.9, high: 1 }],
  ['more', 1],
])('a report with a changed %s is found', async (field, value) => {
  const run = tampered((copy) => {
    const file = join(storedEvaluations(copy)[0]!.folder, 'report.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), [field]: value }))
  })
  expect(Object.values(await wrongIn(run))[0]).toBe(
    `report.json says '${field}' differently from its records`,
  )
})

test('a record whose answer differs from its transcript is found', async () => {
  const run = tampered((copy) => {
    const file = join(storedEvaluations(copy)[0]!.folder, 'records.jsonl')
    // The same number spelled differently, so it scores the same.
    edit(file, (text) => text.replace(/"answer":"(\d+)"/, '"answer":"$1.0"'))
  })
  expect(Object.values(await wrongIn(run))[0]).toMatch(/does not end with the answer of its record|scored/)
})

test('a trajectory with a changed score is found by its credit', async () => {
  const run = tampered((copy) =>
    editTrajectories(copy, ([first, ...rest]) => {
      const [one, ...others] = first!.trajectories
      const changed = { ...one!, terminalScore: 1 - one!.terminalScore }
      return [{ ...first!, trajectories: [changed, ...others] }, ...rest]
    }),
  )
  expect(await wrongIn(run)).toEqual({
    'settings and history': 'trajectories.jsonl has changed: its digest does not match',
    curves: "events.jsonl says 'score' of update 0 differently from its trajectories",
    trajectories: 'the credit of trajectory 0 of update 0 is different when recomputed',
  })
})

test('a changed score with matching credit is found by the ledger', async () => {
  const run = tampered((copy) =>
    editTrajectories(copy, ([first, ...rest]) => {
      const [one, ...others] = first!.trajectories
      const changed = creditTrajectory({ ...one!, terminalScore: 1 - one!.terminalScore }, one!.settings)
      return [{ ...first!, trajectories: [changed, ...others] }, ...rest]
    }),
  )
  expect((await wrongIn(run))['trajectories']).toMatch(
    /^trajectory 0 of update 0 has score . on '.*', but the ledger has ./,
  )
})

test('credit computed with other reward settings than the run’s is found', async () => {
  const run = tampered((copy) =>
    editTrajectories(copy, ([first, ...rest]) => {
      const [one, ...others] = first!.trajectories
      const changed = creditTrajectory(one!, { ...one!.settings, beta: 0.5 })
      return [{ ...first!, trajectories: [changed, ...others] }, ...rest]
    }),
  )
  expect(await wrongIn(run)).toMatchObject({
    trajectories: 'trajectory 0 of update 0 has other reward settings than the run',
  })
})

test('missing and damaged trajectory lines are found', async () => {
  const shorter = tampered((copy) => editTrajectories(copy, (lines) => lines.slice(0, -1)))
  expect(await wrongIn(shorter)).toMatchObject({ trajectories: 'the trajectories of update 2 are missing' })
  const gap = tampered((copy) => editTrajectories(copy, (lines) => lines.filter((_, index) => index !== 1)))
  expect(await wrongIn(gap)).toMatchObject({ trajectories: 'the trajectories of update 1 are missing' })
  const broken = tampered((copy) =>
    edit(copy.trajectoriesFile, (text) => text.replace('"trajectories":', '"trajectories"')),
  )
  expect((await wrongIn(broken))['trajectories']).toMatch(/^Line 1 of .* is damaged/)
})

test('a changed answer in the ledger is found, whether or not its checksum matches', async () => {
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
  expect(Object.values(await wrongIn(run))).toEqual([
    expect.stringMatching(/scored 1 and now scores 0/),
    'evaluation test-direct: records.jsonl has changed: its digest does not match',
  ])
})

test('an evaluation that cannot be rescored is found and does not stop the verification', async () => {
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

test('a reworded question and a duplicate record in an evaluation are found', async () => {
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
  expect(Object.values(await wrongIn(twice))).toContain('1 of its records repeat a question')
})

test.each<[what: string, change: (run: RunFolder) => void, said: string]>([
  ...(['seed', 'learningRate', 'passes', 'entropyWeight'] as const).map(
    (field) =>
      [
        `another ${field} in run.json`,
        ({ path }: RunFolder) => editTraining(path, field),
        `run.json: training.${field} was `,
      ] as [string, (run: RunFolder) => void, string],
  ),
  [
    'fewer updates in run.json',
    ({ path }) => edit(join(path, 'run.json'), (text) => text.replace('"updates": 3,\n', '"updates": 2,\n')),
    'run.json: ',
  ],
  ['events that are gone', ({ eventsFile }) => rmSync(eventsFile), 'events.jsonl is missing'],
  [
    'another score on the curve',
    ({ eventsFile }) => edit(eventsFile, (text) => text.replace(/"score":[\d.]+/, '"score":0.987')),
    'events.jsonl ',
  ],
  [
    'an update too many on the curve',
    ({ eventsFile }) => edit(eventsFile, (text) => text + text.slice(0, text.indexOf('\n') + 1)),
    'events.jsonl has 1 updates more than were made',
  ],
  [
    'trajectories that are gone',
    ({ trajectoriesFile }) => rmSync(trajectoriesFile),
    'trajectories.jsonl is missing',
  ],
  ['a journal of calls that is gone', ({ callsFile }) => rmSync(callsFile), 'calls.jsonl is missing'],
  [
    'fewer tokens in the journal of calls',
    ({ callsFile }) => edit(callsFile, (text) => text.replace(/"input":\d+/, '"input":1')),
    'calls.jsonl ',
  ],
  [
    'another membership',
    ({ membershipFile }) => edit(membershipFile, (text) => text.replace('shelf-4', 'shelf-9')),
    'membership.json has changed',
  ],
])('%s is found', async (_, change, said) => {
  const wrong = await wrongIn(tampered(change))
  expect(wrong['settings and history']).toContain(said)
})

test('missing checkpoints are found', async () => {
  const run = tampered(({ path }) => rmSync(join(path, 'checkpoints'), { recursive: true }))
  expect((await wrongIn(run))['settings and history']).toMatch(/no checkpoint/)
})

test('a changed report is found by its digest, or by its records if the digest was changed too', async () => {
  const change = ({ evaluationsFolder }: RunFolder) =>
    edit(join(evaluationsFolder, 'test-direct', 'report.json'), (text) =>
      text.replace(/"mean": [\d.]+/, '"mean": 0.99'),
    )
  const sealed = Object.values(await wrongIn(tampered(change)))
  expect(sealed).toContain("report.json says 'score' differently from its records")
  expect(sealed).toContain('evaluation test-direct: report.json has changed: its digest does not match')
  const unsealed = tampered((run) => {
    change(run)
    rmSync(join(run.evaluationsFolder, 'test-direct.digests.json'))
  })
  expect(Object.values(await wrongIn(unsealed))).toEqual([
    "report.json says 'score' differently from its records",
  ])
})

test.each(['test-direct', 'test-direct/report.json', 'test-direct/records.jsonl'])(
  'an evaluation without %s is found',
  async (name) => {
    const run = tampered(({ evaluationsFolder }) =>
      rmSync(join(evaluationsFolder, name), { recursive: true }),
    )
    expect((await wrongIn(run))['evaluations']).toMatch(/^evaluation test-direct.* is missing/)
  },
)

function editTraining(path: string, field: string): void {
  const file = join(path, 'run.json')
  const record = JSON.parse(readFileSync(file, 'utf8'))
  record.training[field] += 1
  writeFileSync(file, JSON.stringify(record))
}
