import { expect, test } from 'vitest'
import { tinyExecutor } from '../../test/tiny-task-set.ts'
import { describeParts } from '../training/prepare-run.ts'
import { whyNot } from './assignment.ts'

const { parts } = tinyExecutor()
const wanted = describeParts(parts)

test.for([
  ['version', { ...wanted, version: '0.0.0' }, /version .* 0\.0\.0/],
  ['model', { ...wanted, model: { ...wanted.model, model: 'another' } }, /another/],
  ['provider', { ...wanted, model: { ...wanted.model, provider: 'elsewhere' } }, /elsewhere/],
  ['library', { ...wanted, library: 'other' }, /library/],
  ['further model', { ...wanted, models: { small: wanted.model } } as never, /small/],
  ['data', { ...wanted, tasks: 'other' as never }, /tasks/],
] as const)('a worker names a different %s as the reason for a refusal', ([, theirs, reason]) => {
  expect(whyNot(theirs, parts)).toMatch(reason)
})

test('a worker with the same parts does not refuse', () => {
  expect(whyNot(wanted, parts)).toBeUndefined()
})
