import { expect, test } from 'vitest'
import { Examples } from './examples.ts'

function gather(examples: Examples, file: string, ids: readonly string[]): void {
  for (const [index, id] of ids.entries())
    if (examples.claim(id, { file, row: index + 1, index }, 'id'))
      examples.add(id, { question: id, metadata: {} }, { kind: 'text', accepted: [id] })
}

test('several files form one pool in reading order, and positions count through it', () => {
  const examples = new Examples((position) => position !== 1)
  gather(examples, 'first', ['c', 'a'])
  gather(examples, 'second', ['b'])
  expect(examples.ids).toEqual(['c', 'a', 'b'])
  expect(examples.count).toBe(3)
  expect([...examples.tasks.keys()]).toEqual(['c', 'b'])
})

test('an id repeated in another file is refused', () => {
  const examples = new Examples()
  gather(examples, 'first', ['a'])
  expect(() => gather(examples, 'second', ['b', 'a'])).toThrow(
    "second, row 2, field id: the id 'a' already occurs in row 1 of first.",
  )
})

test('counting stores nothing', () => {
  const examples = new Examples(undefined, false)
  gather(examples, 'first', ['a', 'b'])
  expect([examples.count, examples.withTask, examples.tasks.size, examples.references.size]).toEqual([
    2, 2, 0, 0,
  ])
})
