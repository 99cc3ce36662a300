import { afterAll, beforeAll, expect, test } from 'vitest'
import { Stage } from './stage.ts'

// A few of the points of `npm run test:workers`.
let stage: Stage
beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage.close())

test.for([
  ['kill', 21],
  ['cut', 6],
  ['stop', 12],
  ['away', 15],
  ['duplicate', 20],
  ['trainer', 30],
] as const)(
  'the same weights, and only calls in flight at a lost worker are repeated: %s after %d calls',
  async ([fault, after]) => {
    expect(await stage.point(fault, after)).toHaveProperty('repeated')
  },
)
