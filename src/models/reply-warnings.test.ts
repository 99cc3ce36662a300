import { expect, test } from 'vitest'
import { paperDecoding } from './chat-model.ts'
import { ReplyWarnings } from './reply-warnings.ts'

const usage = { input: 10, cachedInput: 0, output: 5 }

function observe(watch: ReplyWarnings, length: number, told = usage) {
  return watch.of({ system: '', user: 'x'.repeat(length), decoding: paperDecoding }, { usage: told }, false)
}

test('equal counts for requests of nearly equal length are believed', () => {
  const watch = new ReplyWarnings()
  for (let i = 0; i < 100; i += 1) expect(observe(watch, 1000 + i)).toEqual([])
})

test('equal counts for clearly different requests are doubted from the eighth on', () => {
  const watch = new ReplyWarnings()
  const seen = Array.from({ length: 10 }, (_, i) => observe(watch, 100 * (i + 1)).length)
  expect(seen).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
  expect(observe(watch, 5000, { ...usage, output: 6 })).toEqual([])
  expect(observe(watch, 100)).toEqual([])
})

test('thinking is a warning only when it was disabled', () => {
  const request = { system: '', user: '', decoding: paperDecoding }
  expect(new ReplyWarnings().of(request, { usage }, true)).toEqual(['thinking'])
  const thinking = { ...request, decoding: { ...paperDecoding, thinking: true } }
  expect(new ReplyWarnings().of(thinking, { usage }, true)).toEqual([])
})
