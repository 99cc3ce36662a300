// Evaluations of driver organisations are kept, capped, resumed and verified like all others.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel } from '../../test/tiny-training.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { organisations } from '../organisations/list.ts'
import { openOrganisation } from '../organisations/open-organisation.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { openSimulated } from '../simulator/server/open-simulated.ts'
import { readLines } from '../store/durable-file.ts'
import { RunFolder } from '../store/run-folder.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import { beginUntrained } from '../training/begin-untrained.ts'
import { type EvaluateOptions, evaluate } from './evaluate.ts'
import { verify } from './verification/verify.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-drivers-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const set = tinyTaskSet as TaskSet
const { library, profile } = set
const means = { library, profile, seed: 1, encoder: async () => lexicalEncoder }
let count = 0
const fresh = async () => {
  count += 1
  const engine = { set, model: tinyModel, sandbox: null, encoder: lexicalEncoder }
  return (await beginUntrained({ ...engine, folder: join(work, `run-${count}`) })).path
}
const dylanOn = async (folder: string, options: Partial<EvaluateOptions> = {}) => {
  const { organisation, about } = await openOrganisation('dylan', means)
  const engine = { set, model: tinyModel, sandbox: null, concurrency: 1 }
  return evaluate({ ...engine, folder, organisation, about, ...options })
}

test('a resumed evaluation repeats no finished question and ends with the same records', async () => {
  const whole = await dylanOn(await fresh())
  const folder = await fresh()
  const stop = new AbortController()
  const model = modelAround((request, signal, number) => {
    if (number === 40) stop.abort()
    return tinyModel.ask(request, signal)
  })
  const first = await dylanOn(folder, { model, signal: stop.signal })
  expect(first.complete).toBe(false)
  expect(first.n).toBeGreaterThan(0)
  const rest = modelAround((request, signal) => tinyModel.ask(request, signal))
  const second = await dylanOn(folder, { model: rest })
  expect(second).toMatchObject({ complete: true, n: 16, folder: first.folder, fidelity: 'released code' })
  const kept = first.records.reduce((sum, { usage }) => sum + usage.calls, 0)
  expect(rest.calls).toBe(whole.usage.calls - kept)
  const told = ({ records }: typeof whole) =>
    records.map(({ task, answer, score, graphKey, notes }) => ({ task, answer, score, graphKey, notes }))
  expect(told(second)).toEqual(told(whole))
  expect(second.records[0]!.notes).toHaveProperty('importance')
  const checks: { ok: boolean; name: string; detail: string }[] = []
  for await (const check of verify({ folder: new RunFolder(folder), set, sandbox: null })) checks.push(check)
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  expect(readLines(join(second.folder!, 'records.jsonl'))).toHaveLength(16)
})

test('a cap on calls stops it between questions', async () => {
  const capped = await dylanOn(await fresh(), { budget: { calls: 20 } })
  expect(capped.complete).toBe(false)
  expect(capped.spent.calls).toBeGreaterThanOrEqual(20)
})

test('a network failure within a driven question is retried and changes no answer', async () => {
  const model = modelAround(async (request, signal, number) =>
    number === 5
      ? { ok: false, kind: 'server_error', message: 'scripted', durationMs: 0 }
      : tinyModel.ask(request, signal),
  )
  const whole = await dylanOn(await fresh())
  const clock = { now: () => Date.now(), sleep: async () => {} }
  const shaken = await dylanOn(await fresh(), { model, clock })
  expect(shaken.records.map(({ answer }) => answer)).toEqual(whole.records.map(({ answer }) => answer))
  expect(shaken.usage.attempts).toBe(whole.usage.attempts + 1)
})

test('every system without training answers on the simulated model over HTTP', async () => {
  const { model, close } = await openSimulated({ tasks: knownTasks(set), seed: 1 })
  try {
    for (const { name, learner } of organisations) {
      if (learner !== undefined) continue
      const { organisation, about } = await openOrganisation(name, means)
      const report = await evaluate({ set, model, sandbox: null, organisation, about, tasks: 4 })
      expect(report.n, name).toBe(4)
      expect(report.failures.nodes, name).toBe(0)
      expect(report.usage.calls, name).toBeGreaterThanOrEqual(4)
    }
  } finally {
    await close()
  }
})
