import { expect, test } from 'vitest'
import { chooseDisplay } from './choose-display.ts'

test.each([
  [undefined, true, {}, 'live'],
  [undefined, false, {}, 'plain'],
  [undefined, true, { CI: 'true' }, 'plain'],
  [undefined, true, { CI: 'false' }, 'live'],
  [undefined, true, { TERM: 'dumb' }, 'plain'],
  ['live', true, { CI: 'true' }, 'live'],
  ['live', false, {}, 'plain'],
  ['live', true, { TERM: 'dumb' }, 'plain'],
  ['plain', true, {}, 'plain'],
  ['json', true, {}, 'json'],
  ['none', false, {}, 'none'],
] as const)('%s on a terminal (%s) with %o is %s', (option, isTTY, env, display) => {
  expect(chooseDisplay(option, { isTTY } as NodeJS.WriteStream, env)).toBe(display)
})
