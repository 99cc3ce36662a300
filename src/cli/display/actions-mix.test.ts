import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actionsMix } from './actions-mix.ts'
import { plainScreen } from './screen.ts'
import { textWidth } from './text-width.ts'

const roles = [
  { label: 'independent_solver', amount: 120 },
  { label: 'calculation_auditor', amount: 40 },
  { label: 'table_interpreter', amount: 1 },
  { label: 'verifier', amount: 0 },
]

test('shares as bars, the longest of which fills the room', () => {
  expect(actionsMix('Roles', roles, plainScreen(52))).toBe(
    [
      'Roles',
      '  independent_solver   74.5 %  █████████████████████',
      '  calculation_auditor  24.8 %  ███████',
      '  table_interpreter     0.6 %  ▏',
      '  verifier              0.0 %',
      '',
    ].join('\n'),
  )
})

test('in ASCII and narrow', () => {
  expect(actionsMix('Roles', roles.slice(0, 2), plainScreen(30, true))).toBe(
    ['Roles', '  independe...  75.0 %  ######', '  calculati...  25.0 %  ##', ''].join('\n'),
  )
})

test('nothing yet, and nothing but zeros', () => {
  expect(actionsMix('Roles', [], plainScreen())).toBe('Roles\n  nothing yet\n')
  expect(actionsMix('', [{ label: 'group', amount: 0 }], plainScreen())).toBe('  group  –\n')
})

test('never wider than the screen, whatever the labels and amounts', () => {
  const part = fc.record({ label: fc.string({ unit: 'binary' }), amount: fc.double() })
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.array(part),
      fc.integer({ min: 16, max: 130 }),
      fc.boolean(),
      (title, parts, columns, ascii) => {
        const text = actionsMix(title, parts, plainScreen(columns, ascii))
        for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(columns)
        expect(text.replaceAll('\n', '')).toMatch(
          ascii ? /^[ -~]*$/ : /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u,
        )
      },
    ),
  )
})
