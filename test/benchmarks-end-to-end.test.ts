// All eight benchmarks from the official files to the paper's metric, on the simulated model.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { lexicalEncoder } from '../src/encoder/lexical-encoder.ts'
import { evaluate } from '../src/evaluation/evaluate.ts'
import { loadPolicy } from '../src/evaluation/trained-policy.ts'
import { verify } from '../src/evaluation/verification/verify.ts'
import { openProgramSandbox } from '../src/sandbox/program-sandbox.ts'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../src/simulator/model/simulator.ts'
import { RunFolder } from '../src/store/run-folder.ts'
import { benchmarkNames, benchmarks } from '../src/tasks/benchmarks/list.ts'
import { benchmarkTaskSet } from '../src/tasks/studies/benchmark-task-set.ts'
import { train } from '../src/training/train.ts'
import { describeShared, sharedPath } from './shared.ts'

const root = mkdtempSync(join(tmpdir(), 'magic-benchmarks-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describeShared('benchmarks, end to end', () => {
  test.each(benchmarkNames)('%s', async (name) => {
    const set = await benchmarkTaskSet(name, { data: sharedPath('data'), train: 3, test: 8 })
    const model = new SimulatedModel({ tasks: knownTasks(set) })
    const sandbox = await openProgramSandbox()
    const folder = join(root, name)
    const settings = { hidden: 8, updates: 2, probes: 1 }
    const trained = await train({ set, model, folder, settings, encoder: lexicalEncoder, sandbox })
    expect(trained).toMatchObject({ status: 'finished', done: 2 })
    const { splits, files } = JSON.parse(readFileSync(join(folder, 'membership.json'), 'utf8'))
    expect(splits.test).toEqual(set.splits['test']!.tasks.map(({ id }) => id))
    for (const { sha256 } of files) expect(sha256).toMatch(/^[0-9a-f]{64}$/)

    const organisation = (await loadPolicy(folder, { encoder: lexicalEncoder })).organisation()
    const report = await evaluate({ set, model, organisation, folder, sandbox })
    expect(report).toMatchObject({ metric: benchmarks[name].metric, complete: true, n: splits.test.length })
    // The simulated model knows the answers and gives some of them.
    expect(report.score.mean).toBeGreaterThan(0)
    if (name === 'tatqa') expect(Object.keys(report.measures)).toContain('em')
    expect(existsSync(join(report.folder!, 'records.jsonl'))).toBe(true)
    for await (const { name: what, ok, detail } of verify({ folder: new RunFolder(folder), set, sandbox }))
      expect(ok, `${what}: ${detail}`).toBe(true)
    sandbox.pool?.close()
  })
})
