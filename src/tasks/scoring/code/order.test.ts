// A verdict depends on the program alone, not on earlier programs in the sandbox.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCodeCases } from '../../../../conformance/code.ts'
import { memorySearch } from '../../../../test/attacks/memory-search.ts'
import { oneAtATime } from '../../../../test/one-at-a-time.ts'
import { describeShared, sharedPath } from '../../../../test/shared.ts'
import { SandboxPool } from '../../../sandbox/pool.ts'
import type { HumanevalReference } from '../reference.ts'
import { scoreProgram } from './score-program.ts'

oneAtATime()

describeShared('the conformance cases, in reused sandboxes', () => {
  // A fixed order makes failures reproducible.
  test('have the same verdicts in shuffled order', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shuffled-cases-'))
    try {
      const cases = readdirSync(sharedPath('conformance', 'code'))
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) =>
          readFileSync(sharedPath('conformance', 'code', name), 'utf8')
            .trim()
            .split('\n'),
        )
      writeFileSync(join(folder, 'cases.jsonl'), shuffled(cases, 1).join('\n'))
      const failures: unknown[] = []
      let count = 0
      for await (const result of runCodeCases(folder)) {
        count += 1
        if (result.failure !== undefined && !isSlowMachine(result.failure)) failures.push(result)
      }
      expect(failures).toEqual([])
      expect(count).toBe(cases.length)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

test('tests find no trace of earlier tests, and programs no trace of any test', async () => {
  const pool = new SandboxPool({ concurrency: 1 })
  const planted = `CANARY<${'0123456789abcdef'}>`
  const honest = 'def f(x):\n    return x'
  const prompt = 'def f(x):\n    """ f """\n'
  const task = (test: string): HumanevalReference => ({ kind: 'humaneval', prompt, entryPoint: 'f', test })
  const secret = task(
    `kept = ["${planted}"] * 9\ndef check(candidate):\n    assert candidate(kept[0][:6]) == kept[0][:6]`,
  )
  const searching = task(
    `${memorySearch}\ndef check(candidate):\n    assert found() == [] and candidate([]) == []`,
  )
  const finding = task(
    `${memorySearch}\nkept = "${planted}"\ndef check(candidate):\n    assert found() != [] and candidate([]) == []`,
  )
  const thief = `${memorySearch}\ndef f(x):\n    return found() or x`
  const statuses = []
  for (const [program, reference] of [
    [honest, secret],
    [honest, searching],
    [honest, finding],
    [honest, searching],
    [thief, secret],
    [honest, searching],
  ] as const)
    statuses.push((await scoreProgram(pool, program, reference)).status)
  await pool.close()
  expect(statuses).toEqual(Array(6).fill('passed'))
})

/** One case needs a third of a core for three seconds to pass, which a busy machine may not have. */
function isSlowMachine(failure: string): boolean {
  return failure === 'timeout, expected passed' && loadavg()[0]! > availableParallelism()
}

/** Uses a linear congruential generator: any fixed order will do. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed
  const keyed = items.map((item) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return { item, key: state }
  })
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
}
