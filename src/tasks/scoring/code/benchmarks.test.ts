import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { oneAtATime } from '../../../../test/one-at-a-time.ts'
import { describeShared, sharedPath } from '../../../../test/shared.ts'
import { SandboxPool } from '../../../sandbox/pool.ts'
import { loadSplit } from '../../benchmarks/benchmark.ts'
import { livecodebench } from '../../benchmarks/livecodebench.ts'
import type { HumanevalReference } from '../reference.ts'
import { scoreProgram } from './score-program.ts'

oneAtATime()
const pool = new SandboxPool({ concurrency: 2 })
const minutes = 60_000

interface Row {
  task_id: string
  prompt: string
  entry_point: string
  canonical_solution: string
  test: string
}

describeShared('HumanEval’s own solutions', () => {
  const rows = (): Row[] =>
    gunzipSync(readFileSync(sharedPath('data', 'humaneval', 'HumanEval.jsonl.gz')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row)

  const reference = ({ prompt, entry_point, test }: Row): HumanevalReference => ({
    kind: 'humaneval',
    prompt,
    entryPoint: entry_point,
    test,
  })

  /** Task and status of each solution with an unexpected status. */
  const exceptions = async (wanted: (status: string) => boolean, program: (row: Row) => string) => {
    const all = rows()
    expect(all).toHaveLength(164)
    const statuses = await Promise.all(all.map((row) => scoreProgram(pool, program(row), reference(row))))
    return statuses.flatMap(({ status }, index) =>
      wanted(status) ? [] : [`${all[index]!.task_id}: ${status}`],
    )
  }
  const passed = (status: string) => status === 'passed'

  test(
    'pass as prompt plus solution',
    async () => expect(await exceptions(passed, (row) => row.prompt + row.canonical_solution)).toEqual([]),
    3 * minutes,
  )

  test(
    'pass as the function alone',
    async () => expect(await exceptions(passed, (row) => functionAlone(row))).toEqual([]),
    3 * minutes,
  )

  test(
    'fail when they return nothing',
    async () => {
      const nothing = (row: Row) => `def ${row.entry_point}(*arguments, **named):\n    pass\n`
      expect(await exceptions((status) => status !== 'passed', nothing)).toEqual([])
    },
    3 * minutes,
  )
})

/** The entry point's definition without imports and helpers, from its `def` on. */
function functionAlone({ prompt, canonical_solution, entry_point }: Row): string {
  const start = prompt.search(new RegExp(`^def ${entry_point}\\b`, 'm'))
  return prompt.slice(start) + canonical_solution
}

describeShared('LiveCodeBench’s sample', () => {
  test('right solutions pass, wrong ones fail', async () => {
    const { references } = await loadSplit(sharedPath('data'), livecodebench, 'sample')
    const text = readFileSync(sharedPath('data', 'livecodebench', 'solutions.json'), 'utf8')
    const solutions = JSON.parse(text) as Record<string, { correct: string; wrong: string }>
    expect(Object.keys(solutions)).toHaveLength(8)
    for (const [id, { correct, wrong }] of Object.entries(solutions)) {
      const reference = references.get(id)
      if (reference?.kind !== 'livecodebench') throw new Error(`no reference for ${id}`)
      expect({ id, ...(await scoreProgram(pool, correct, reference)) }).toMatchObject({
        id,
        status: 'passed',
      })
      expect({ id, ...(await scoreProgram(pool, wrong, reference)) }).toMatchObject({ id, score: 0 })
    }
  })
})
