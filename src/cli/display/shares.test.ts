import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { plainScreen } from './screen.ts'
import { shareBars } from './shares.ts'

const roles = [
  { label: 'independent_solver', before: 1, now: 120 },
  { label: 'calculation_auditor', before: 1, now: 40 },
  { label: 'table_interpreter', before: 2, now: 1 },
  { label: 'verifier', before: 0, now: 0 },
]

test('shares before and now, and bars of which the longest fills the room', () => {
  expect(shareBars('Roles', roles, plainScreen(64))).toBe(
    [
      'Roles',
      '  independent_solver    25.0 % →  74.5 %  ██████████████████████',
      '  calculation_auditor   25.0 % →  24.8 %  ███████▍',
      '  table_interpreter     50.0 % →   0.6 %  ▏',
      '  verifier               0.0 % →   0.0 %',
      '',
    ].join('\n'),
  )
})

test('in ASCII and narrow, the bars give way and the figures stay', () => {
  expect(shareBars('Roles', roles.slice(0, 2), plainScreen(38, true))).toBe(
    ['Roles', '  independent_so...   50.0 % >  75.0 %', '  calculation_au...   50.0 % >  25.0 %', ''].join(
      '\n',
    ),
  )
})

test('nothing but zeros', () => {
  const parts = [{ label: 'group', before: 0, now: 0 }]
  expect(shareBars('Placed as', parts, plainScreen())).toBe('Placed as\n  group        – →       –\n')
})

test('never wider than the screen, whatever the labels', () => {
  const part = fc.record({ label: fc.string({ unit: 'binary' }), before: fc.nat(), now: fc.nat() })
  fc.assert(
    fc.property(fc.array(part), fc.integer({ min: 26, max: 130 }), fc.boolean(), (parts, columns, ascii) => {
      const text = shareBars('Parts', parts, plainScreen(columns, ascii))
      for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
      expect(text.replaceAll('\n', '')).toMatch(ascii ? /^[ -~]*$/ : /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u)
    }),
  )
})
