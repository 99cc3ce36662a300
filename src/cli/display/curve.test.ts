import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawChart } from './curve.ts'
import { plainScreen } from './screen.ts'
import { sparkline } from './sparkline.ts'
import { textWidth } from './text-width.ts'

const rising = Array.from({ length: 40 }, (_, index) => index / 100)

test('a curve with its bounds, beginning and end', () => {
  const chart = {
    title: 'Score',
    curves: [{ name: 'trained', values: rising }],
    x: { label: 'update' },
    height: 5,
  }
  expect(drawChart(chart, plainScreen(30))).toBe(
    [
      'Score',
      '⠤⠤⠤  trained  0.000 → 0.390…',
      '0.390 ┤                  ⢀⡠⠤⠒⠉',
      '      │              ⣀⠤⠒⠊⠁',
      '0.195 ┤         ⣀⡠⠔⠊⠉',
      '      │    ⢀⣀⠤⠒⠉',
      '0.000 ┤⣀⠤⠔⠊⠁',
      '      └───────────────────────',
      '       1       update       40',
      '',
    ].join('\n'),
  )
})

test('two curves can be told apart in ASCII', () => {
  const curves = [
    { name: 'trained', values: [0, 1, 2, 3, 4] },
    { name: 'untrained', values: [2, 2, 2, null, Number.NaN] },
  ]
  expect(drawChart({ curves, height: 5, x: { first: 0 } }, plainScreen(28, true))).toBe(
    [
      '***  trained    0.00 -> 4...',
      'ooo  untrained  2.00 -> 2...',
      '4.00 |                   ***',
      '     |              *****',
      '2.00 |ooooooooo###**',
      '     |   ******',
      '0.00 |***',
      '     +----------------------',
      '      0                    4',
      '',
    ].join('\n'),
  )
})

test.each([
  ['no series', [], 'Loss: no values yet\n'],
  ['an empty one', [{ name: 'a', values: [] }], 'Loss: no values yet\n'],
  [
    'only gaps',
    [{ name: 'a', values: [Number.NaN, undefined, null, Number.POSITIVE_INFINITY] }],
    'Loss: no values yet\n',
  ],
])('%s', (_, curves, text) => expect(drawChart({ title: 'Loss', curves }, plainScreen(40))).toBe(text))

test('one value is a blot in the middle, a constant a line', () => {
  const one = drawChart({ curves: [{ name: '', values: [3] }], height: 3 }, plainScreen(20))
  expect(one.split('\n').slice(0, 4)).toEqual(['⠤⠤⠤  3.00', '3.30 ┤', '     │⣤', '2.70 ┤'])
  const constant = drawChart({ curves: [{ name: '', values: [0, 0, 0] }], height: 3 }, plainScreen(12))
  expect(constant.split('\n').slice(1, 4)).toEqual([' 1.00 ┤', '      │⠤⠤⠤⠤⠤', '-1.00 ┤'])
})

test('fixed bounds hold, and what lies beyond is drawn at the edge', () => {
  const text = drawChart(
    { curves: [{ name: '', values: [5, 5] }], range: [0, 1], height: 2 },
    plainScreen(12),
  )
  expect(text.split('\n').slice(1, 3)).toEqual(['1.00 ┤⠉⠉⠉⠉⠉⠉', '0.00 ┤'])
})

test('the largest numbers do not overflow', () => {
  const values = [Number.MAX_VALUE, -Number.MAX_VALUE]
  const lines = drawChart({ curves: [{ name: '', values }], height: 5 }, plainScreen(30)).split('\n')
  expect([1, 3, 5].map((row) => lines[row]!.split(' ┤')[0])).toEqual([
    ' 1.80e+308',
    '         0',
    '-1.80e+308',
  ])
})

test('smoothing says so and calms the curve', () => {
  const values = Array.from({ length: 50 }, (_, index) => index % 2)
  const text = drawChart({ title: 'Loss', curves: [{ name: '', values }], smoothing: 2 }, plainScreen(60))
  expect(text).toContain('Loss (mean of 2)')
  expect(text).toContain('0.000 → 0.500  min 0.000  max 0.500')
})

const anyValue = fc.oneof(fc.double(), fc.constantFrom(undefined, null), fc.integer({ min: -5, max: 5 }))
const anySeries = fc.array(anyValue, { maxLength: 400 })

test('never wider than the screen, whatever the values and names', () => {
  const curve = fc.record({ name: fc.string({ unit: 'binary' }), values: anySeries })
  fc.assert(
    fc.property(
      fc.array(curve, { maxLength: 3 }),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 20, max: 130 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 12 }),
      (curves, title, columns, ascii, size) => {
        const chart = { title, curves, smoothing: size, height: size, x: { label: title } }
        const text = drawChart(chart, plainScreen(columns, ascii))
        for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(columns)
        expect(text.replaceAll('\n', '')).toMatch(
          ascii ? /^[ -~]*$/ : /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u,
        )
        expect(text).not.toMatch(/NaN|undefined|Infinity/)
      },
    ),
  )
})

test.each([
  [[], ''],
  [[Number.NaN, undefined], ''],
  [[7], '▄'],
  [[2, 2, 2], '▄▄▄'],
  [[0, 1, 2, 3, 4, 5, 6, 7], '▁▂▃▄▅▆▇█'],
  [[0, null, 7], '▁ █'],
])('sparkline of %o is "%s"', (values, text) => expect(sparkline(values, plainScreen())).toBe(text))

test('a sparkline condenses, compares and speaks ASCII', () => {
  expect(sparkline(rising, plainScreen(), { width: 8 })).toBe('▁▂▃▄▅▆▇█')
  expect(sparkline([0.5], plainScreen(), { range: [0, 1] })).toBe('▅')
  expect(sparkline([0, 7], plainScreen(80, true))).toBe('_#')
  fc.assert(
    fc.property(anySeries, fc.nat({ max: 80 }), (series, columns) => {
      expect(textWidth(sparkline(series, plainScreen(columns)))).toBeLessThanOrEqual(columns)
    }),
  )
})
