import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel, trainTiny } from '../../test/tiny-training.ts'
import { readLines } from '../store/durable-file.ts'
import { RunFolder } from '../store/run-folder.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import type { UpdateRecord } from '../training/update-record.ts'
import { directOrganisation } from './baseline-organisations.ts'
import { type EvaluateOptions, evaluate } from './evaluate.ts'
import { questionDetails } from './question-detail.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-question-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const folder = join(work, 'run')
const run = new RunFolder(folder)
const set = tinyTaskSet as TaskSet
const { tasks, references } = set.splits['test']!
const first = tasks[0]!
const solution = (id: string) => set.scorer.solution!(references.get(id))!.answer

function evaluateDirect(options: Partial<EvaluateOptions> = {}) {
  return evaluate({
    set,
    model: tinyModel,
    organisation: directOrganisation(),
    folder,
    sandbox: null,
    ...options,
  })
}

const sent: string[] = []
beforeAll(async () => {
  await trainTiny(folder)
  const model = modelAround((request, signal) => {
    sent.push(request.system + request.user)
    return tinyModel.ask(request, signal)
  })
  await evaluateDirect({ model })
})

test('shows the question, the expected and given answers, and every request and reply', async () => {
  const [detail] = await questionDetails(run, first.id)
  expect(detail).toMatchObject({
    organisation: 'direct',
    split: 'test',
    record: { task: first.id, question: first.question, expected: solution(first.id), graph: { units: [] } },
  })
  const [call] = detail!.transcript![0]!.calls
  expect(sent).toContain(call!.system! + call!.user!)
  expect(call!.reply).toContain('analysis')
})

test('shows the newest graph of a training question, from the ledger', async () => {
  const { query } = readLines(run.eventsFile).at(-1) as UpdateRecord
  const asked = async (split: string) => ({ question: `asked on ${split}` })
  const [detail] = await questionDetails(run, query!, { asked })
  expect(detail).toMatchObject({
    organisation: 'training',
    split: 'train',
    record: { question: 'asked on train' },
  })
  expect(detail!.transcript!.at(-1)!.calls[0]!.reply).toBeDefined()
  expect(detail!.tried).toBeGreaterThan(0)
})

test('older evaluations have no transcript and take the question from the task set', async () => {
  const earlier = join(work, 'earlier')
  const { folder: at } = await evaluateDirect({ folder: earlier })
  writeFileSync(join(earlier, 'run.json'), readFileSync(join(folder, 'run.json')))
  rmSync(join(at!, 'traces.sqlite'))
  const file = join(at!, 'records.jsonl')
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const stripped = lines.map((line) => {
    const { question: _, expected: __, options: ___, ...rest } = JSON.parse(line)
    return JSON.stringify(rest)
  })
  writeFileSync(file, `${stripped.join('\n')}\n`)
  const [detail] = await questionDetails(new RunFolder(earlier), first.id, {
    asked: async () => ({ question: 'from the task set', expected: 7 }),
  })
  expect(detail).toMatchObject({
    record: { question: 'from the task set', expected: 7 },
    transcript: undefined,
  })
})

test('a run that keeps no content keeps neither question nor texts', async () => {
  const silent = join(work, 'silent')
  await trainTiny(silent)
  await evaluateDirect({ folder: silent, execution: { traceContent: false } })
  const [detail] = await questionDetails(new RunFolder(silent), first.id)
  expect(detail!.record.question).toBeUndefined()
  expect(detail!.transcript![0]!.calls[0]).not.toHaveProperty('user')
  expect(JSON.stringify(detail)).not.toContain(first.question)
})

test('an unknown or unanswered question is named with a remedy', async () => {
  await expect(questionDetails(run, 'nope')).rejects.toThrow(
    /no question 'nope'\. Some of its questions: train: /,
  )
  await expect(questionDetails(run, first.id, { organisation: 'trained' })).rejects.toThrow(
    /has no stored answer to the test question .* by 'trained'. It has evaluations of direct. Make one: `magic eval run --split test`/,
  )
})

test('expected answers never reach a model', async () => {
  const secret = 'the-secret-answer-5417'
  const scorer = { ...set.scorer, solution: () => ({ answer: secret }) }
  const heard: string[] = []
  const model = modelAround((request, signal) => {
    heard.push(JSON.stringify(request))
    return tinyModel.ask(request, signal)
  })
  const { records } = await evaluateDirect({ set: { ...set, scorer }, model, folder: undefined })
  expect(records[0]!.expected).toBe(secret)
  expect(heard.join('')).not.toContain(secret)
})
