import { expect, test } from 'vitest'
import { joinSplits, SplitCollector } from './split.ts'

function splitOf(...ids: string[]) {
  const examples = new SplitCollector()
  for (const [index, id] of ids.entries()) {
    examples.addId(id, { file: 'f', row: index + 1, index }, 'id')
    examples.addTask({ id, question: id, metadata: {} })
  }
  return examples.split([{ path: ids.join(), bytes: 0, sha256: '' }])
}

test('joined splits are one pool in the order given', () => {
  const joined = joinSplits([splitOf('c', 'a'), splitOf('b')])
  expect(joined.ids).toEqual(['c', 'a', 'b'])
  expect([...joined.tasks.keys()]).toEqual(['c', 'a', 'b'])
  expect(joined.files.map((file) => file.path)).toEqual(['c,a', 'b'])
})

test('splits that share an example are refused', () => {
  expect(() => joinSplits([splitOf('a'), splitOf('b', 'a')])).toThrow("'a'")
})
