import { expect, test } from 'vitest'
import { oneAtATime } from '../test/one-at-a-time.ts'
import { describeShared, sharedPath } from '../test/shared.ts'
import { runCodeCases } from './code.ts'

oneAtATime()

describeShared('code evaluation', () => {
  test('every shared case gets its expected verdict', async () => {
    const failures: string[] = []
    let count = 0
    for await (const { name, failure } of runCodeCases(sharedPath('conformance', 'code'))) {
      count += 1
      if (failure !== undefined) failures.push(`${name}: ${failure}`)
    }
    expect(failures).toEqual([])
    expect(count).toBe(124)
  }, 300_000)
})
