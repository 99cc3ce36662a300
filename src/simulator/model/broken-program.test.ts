import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brokenPrograms, stub } from './broken-program.ts'

const wanted = { mode: 'function', starterCode: '', entryPoint: 'count' } as const

test('makes one mistake each, and ends with a stub', () => {
  const program = 'def count(values):\n    return sum(1 for value in values if value >= 3)\n'
  expect(brokenPrograms(program, wanted)).toEqual([
    'def count(values):\n    return sum(1 for value in values if value > 3)\n',
    'def count(values):\n    return None\n',
    'def count(*arguments):\n    return None\n',
  ])
  const loop = 'for i in range(1, n):\n    if a == b and x < y:\n        n = n + 1\n'
  expect(brokenPrograms(loop, { mode: 'stdin', starterCode: '' })).toEqual([
    loop.replace('n + 1', 'n + 2'),
    loop.replace('range(1, n)', 'range(1, n - 1)'),
    loop.replace('==', '!='),
    'print()\n',
  ])
})

test('changes the last match in code, not in a string or comment', () => {
  const program = [
    'def f(n):',
    '    """Is it so that n < 3?  >>> f(1) == 2"""',
    '    if n <= 1: # n > 5',
    '        return "a \\" < b" + \'x > y\'',
    '    return n',
  ].join('\n')
  const [first] = brokenPrograms(program, wanted)
  expect(first).toBe(program.replace('n <= 1', 'n < 1'))
})

test('a program with nothing to break gives only the stub', () => {
  expect(brokenPrograms('print(input())\n', { mode: 'stdin', starterCode: '' })).toEqual(['print()\n'])
  expect(stub(undefined)).toContain('def solve(')
})

test('handles any text in reasonable time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (program) => {
      for (const broken of brokenPrograms(program, wanted)) expect(broken).not.toBe(program)
    }),
  )
  const long = 'range('.repeat(20_000) + '"'.repeat(20_000)
  expect(brokenPrograms(long, wanted)).toHaveLength(1)
})
