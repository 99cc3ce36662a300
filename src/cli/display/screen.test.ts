import { Writable } from 'node:stream'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { afterEach, expect, test, vi } from 'vitest'
import { plainScreen } from '../../../test/plain-screen.ts'
import { cutText, factLines, type Lines, padText, screenOf, shownText, wrapText } from './screen.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

function terminal(extra: object): NodeJS.WriteStream {
  const stream = new Writable({ write: (_, __, done) => done() })
  return Object.assign(stream, extra) as unknown as NodeJS.WriteStream
}

test('a terminal reports its columns; a pipe is unlimited', () => {
  expect(screenOf(terminal({ isTTY: true, columns: 60 })).columns).toBe(60)
  expect(screenOf(terminal({ isTTY: true, columns: 0 })).columns).toBe(80)
  expect(screenOf(terminal({})).columns).toBe(Number.POSITIVE_INFINITY)
})

test.each([
  [{}, false],
  [{ LANG: 'C.UTF-8' }, false],
  [{ LANG: 'de_DE.utf8' }, false],
  [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, true],
  [{ LANG: 'en_GB.ISO-8859-1' }, true],
  [{ LANG: 'en_GB.UTF-8', TERM: 'linux' }, true],
])('with %o it is ASCII: %s', (env, ascii) =>
  expect(screenOf(terminal({}), env).text(['→'])).toBe(ascii ? '>\n' : '→\n'),
)

test('colours follow the target stream, NO_COLOR and FORCE_COLOR', () => {
  vi.stubEnv('FORCE_COLOR', undefined)
  vi.stubEnv('NO_COLOR', undefined)
  const colourful = terminal({ isTTY: true, getColorDepth: () => 8 })
  const monochrome = terminal({ isTTY: true, getColorDepth: () => 1 })
  expect(screenOf(colourful).paint('red', 'x')).toBe('\u001b[31mx\u001b[39m')
  expect(screenOf(monochrome).paint('red', 'x')).toBe('x')
  expect(screenOf(terminal({})).paint('red', 'x')).toBe('x')
  vi.stubEnv('FORCE_COLOR', '1')
  expect(screenOf(terminal({})).paint('red', 'x')).toBe('\u001b[31mx\u001b[39m')
  vi.stubEnv('FORCE_COLOR', undefined)
  vi.stubEnv('NO_COLOR', '1')
  const real = terminal({ isTTY: true, getColorDepth: () => process.stdout.getColorDepth?.() ?? 1 })
  expect(screenOf(real).paint('red', 'x')).toBe('x')
})

test('outside text can neither break the line nor drive the terminal', () => {
  expect(shownText('a\u001b[31m\nb\u202e')).toBe('a\\u{1b}[31m\\nb\\u{202e}')
  expect(shownText(' ')).toBe('')
  expect(plainScreen(80, true).text(['¥0.42 … 東'])).toBe('CNY 0.42 . \\u{6771}\n')
})

test('text is cut between characters and padded to a width', () => {
  expect(cutText('independent', 11)).toBe('independent')
  expect(cutText('independent', 6)).toBe('indep…')
  expect(cutText('東京都', 4)).toBe('東…')
  expect(cutText('long', 0)).toBe('')
  expect(cutText('long', Number.POSITIVE_INFINITY)).toBe('long')
  expect([padText('東', 4), padText('東', 4, 'right')]).toEqual(['東  ', '  東'])
})

test('cut text fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 30 }), (text, width) => {
      expect(stringWidth(cutText(shownText(text), width))).toBeLessThanOrEqual(width)
    }),
  )
})

test('lines break between words and continue at the indent; a long word is not split', () => {
  const text = 'one two three four /a/path/that/is/too/long/to/fit five'
  expect(wrapText(text, { columns: 24 }, '    ')).toBe(
    'one two three four\n    /a/path/that/is/too/long/to/fit\n    five',
  )
  expect(wrapText(text, plainScreen())).toBe(text)
  expect(wrapText('a share of about 62.5 % here', { columns: 22 })).toBe('a share of about\n62.5 % here')
})

test('facts are aligned in a column beside their names', () => {
  const facts = [
    ['run', 'a'],
    ['kept in', 'one two three four five six\u001b'],
  ] as const
  expect(factLines(facts, plainScreen(31))).toEqual([
    'run      a',
    'kept in  one two three four\n         five six\\u{1b}',
  ])
})

test('on an ASCII screen, symbols become ASCII', () => {
  expect(plainScreen(80, true).text(['✓ ━╸─ │ ▁█ → …'])).toBe('v #-- | _# > .\n')
})

test('a screen wraps wide lines at their indent, but leaves verbatim ones alone', () => {
  const verbatim = '  magic compare first second'
  const lines: Lines = ['  one two three four five', { verbatim }, ['', false, 'six']]
  expect(plainScreen(22).text(lines)).toBe(`  one two three four\n  five\n${verbatim}\n\nsix\n`)
  expect(plainScreen().text(lines)).toBe(`  one two three four five\n${verbatim}\n\nsix\n`)
})
