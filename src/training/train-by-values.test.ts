import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectSameLearning, expectSameSpending, trainWithStops } from '../../test/runs/same-training.ts'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { learned, trainTiny } from '../../test/tiny-training.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { finalGraphs } from '../evaluation/run-overview.ts'
import { loadPolicy } from '../evaluation/trained-policy.ts'
import type { Verification } from '../evaluation/verification/verification.ts'
import { verify } from '../evaluation/verification/verify.ts'
import { graphKey } from '../graph/graph-key.ts'
import { trainingPresets } from '../settings/training.ts'
import { readLines } from '../store/durable-file.ts'
import { RunFolder } from '../store/run-folder.ts'
import { splitOf } from '../tasks/task-set.ts'
import type { TrajectoryRecord } from './update-record.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-values-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const settings = { ...trainingPresets.values, hidden: 32, maxUnits: 2, evaluations: 300 }
const reference = join(work, 'reference')
beforeAll(async () => void (await trainTiny(reference, { settings })))

test('training by values ends with a policy that builds the graph chosen for each question', async () => {
  const run = new RunFolder(reference)
  const lines = readLines(run.trajectoriesFile) as TrajectoryRecord[]
  expect(lines).toHaveLength(13)
  const looks = lines.flatMap(({ trajectories }) => trajectories)
  expect(looks.length).toBeLessThanOrEqual(300)
  const { chosen } = lines.at(-1)!
  const tasks = splitOf(tinyTaskSet, 'train').tasks
  expect(chosen!.flatMap((one) => one.tasks).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
  const policy = await loadPolicy(reference, { encoder: lexicalEncoder })
  const organisation = policy.organisation()
  let right = 0
  for (const task of tasks) {
    const key = graphKey(await organisation.graphFor(task))
    if (finalGraphs(run, 1).some((final) => final.key === key)) right += 1
  }
  expect(right / tasks.length).toBeGreaterThan(0.8)
})

test('verify finds every look in the ledger', async () => {
  const folder = new RunFolder(reference)
  const found: Verification[] = []
  for await (const one of verify({ folder, set: tinyTaskSet, sandbox: null })) found.push(one)
  expect(found.filter(({ ok }) => !ok)).toEqual([])
  expect(found.find(({ name }) => name === 'trajectories')!.detail).toMatch(
    /^the credit of \d+ follows from the scores/,
  )
})

test('training that is stopped repeatedly ends bit-identical and pays for nothing twice', async () => {
  const folder = join(work, 'stopped')
  await trainWithStops(folder, () => 37, { settings })
  expectSameLearning(folder, reference)
  expectSameSpending(folder, reference)
})

test('a cap ends it between evaluations, not only between rounds', async () => {
  const folder = join(work, 'capped')
  const result = await trainTiny(folder, { settings, budget: { calls: 60 }, concurrency: 4 })
  expect(result.status).toBe('budget-reached')
  expect(result.spent.calls).toBeLessThan(60 + 4 * 13)
  expect((await trainTiny(folder, { settings, budget: {} })).status).toBe('finished')
  expect(learned(folder).weights.equals(learned(reference).weights)).toBe(true)
})
