import { expect, test } from 'vitest'
import { plainScreen } from '../../../test/plain-screen.ts'
import { commandLines } from './command-lines.ts'

const commands = [['magic show first', 'one run'], ['magic view'], ['magic show', 'all runs']] as const

test('descriptions sit beside their commands when they fit', () => {
  const screen = plainScreen(40)
  expect(screen.text(commandLines(commands, screen))).toBe(
    '  magic show first  one run\n  magic view\n  magic show        all runs\n',
  )
})

test('otherwise descriptions go below, and commands are not wrapped', () => {
  const screen = plainScreen(16)
  expect(screen.text(commandLines(commands, screen))).toBe(
    '  magic show first\n      one run\n  magic view\n  magic show\n      all runs\n',
  )
})
