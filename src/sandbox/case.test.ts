import { expect, test } from 'vitest'
import { parseMessage } from './case.ts'

test('a message is JSON of limited depth', () => {
  expect(parseMessage(Buffer.from('{"value":["l",1,"[[[ \\" {{{"]}'))).toEqual({
    value: ['l', 1, '[[[ " {{{'],
  })
  expect(parseMessage(Buffer.from('passed'))).toBeUndefined()
  expect(parseMessage(Buffer.from(`${'['.repeat(300)}${']'.repeat(300)}`))).toBeDefined()
  expect(parseMessage(Buffer.from('['.repeat(301)))).toBeUndefined()
  expect(parseMessage(Buffer.from('[{'.repeat(2_000_000)))).toBeUndefined()
})

test('a message cannot reach object prototypes', () => {
  const message = parseMessage(Buffer.from('{"__proto__":{"polluted":true}}'))
  expect(Object.hasOwn(message as object, '__proto__')).toBe(true)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})
