import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { storedEvaluations } from '../evaluation/evaluate.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { syntheticTaskSet } from '../simulator/questions/synthetic-task-set.ts'
import { openSimulated } from '../simulator/server/open-simulated.ts'
import { RunFolder } from '../store/run-folder.ts'
import { type DemoResult, demoFamilies, quickTraining, runDemo } from './demo.ts'

const root = mkdtempSync(join(tmpdir(), 'magic-demo-'))
afterEach(() => rmSync(root, { recursive: true, force: true }))

const set = syntheticTaskSet({ seed: 1, train: 4, test: 8, families: demoFamilies })

/** The demo on a handful of questions: too few to learn from, enough to run every part. */
async function smallDemo(
  name: string,
  signal: AbortSignal,
): Promise<{ result: DemoResult; heard: string[] }> {
  const { model, close } = await openSimulated({ tasks: knownTasks(set), seed: 1 })
  const heard: string[] = []
  try {
    const result = await runDemo({
      seed: 1,
      training: quickTraining,
      set,
      model,
      folder: join(root, name),
      source: {},
      onTraining: ({ type }) => heard.push(type),
      onSearch: (done, total) => {
        if (done === total) heard.push('search')
      },
      onQuestion: (organisation, done, total) => {
        if (done === total) heard.push(organisation)
      },
      signal,
    })
    return { result, heard }
  } finally {
    await close()
  }
}

test('trains over HTTP, evaluates six organisations, and is reproducible', async () => {
  const { result, heard } = await smallDemo('first', new AbortController().signal)
  expect(result.training).toMatchObject({ status: 'finished', done: 13, updates: 13 })
  const names = ['direct', 'chain', 'untrained', 'searched', 'shuffled', 'trained']
  expect(heard.filter((one) => one === 'search' || names.includes(one))).toEqual(['search', ...names])
  const { reports, rows, worth, example } = result.comparison!
  expect(reports.map(({ organisation, n, complete }) => [organisation, n, complete])).toEqual(
    names.map((name) => [name, 8, true]),
  )
  expect(rows[2]!.against).toBeUndefined()
  expect(rows[5]!.against).toMatchObject({ base: 'untrained', questions: 8 })
  const keysOf = (position: number) => reports[position]!.records.map(({ graphKey }) => graphKey)
  expect(new Set(keysOf(3)).size).toBe(1)
  expect(keysOf(4).toSorted()).toEqual(keysOf(5).toSorted())
  expect(reports[3]!.search).toMatchObject({ questions: 4 })
  expect(worth).toMatchObject({ questions: 8, difference: reports[5]!.score.mean - reports[3]!.score.mean })
  expect(set.splits['test']!.tasks).toContain(example.task)
  expect(storedEvaluations(new RunFolder(join(root, 'first')))).toHaveLength(6)

  const again = await smallDemo('second', new AbortController().signal)
  const scores = (one: DemoResult) => one.comparison!.rows.map(({ score, tokens }) => [score, tokens])
  expect(scores(again.result)).toEqual(scores(result))
})

test('a demo cancelled before the start ends with the reason', async () => {
  const controller = new AbortController()
  controller.abort(new Error('enough'))
  await expect(smallDemo('stopped', controller.signal)).rejects.toThrow('enough')
})
