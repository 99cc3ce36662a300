import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { drawChart } from './chart.ts'
import { plainScreen } from './screen.ts'
import { movingMean, sparkline } from './series.ts'

const rising = Array.from({ length: 40 }, (_, index) => index / 100)
const score = {
  title: 'Score',
  values: rising,
  range: [0, 0.39],
  x: { label: 'update', first: 1 },
  format: (value: number) => value.toFixed(2),
} as const

test('a curve with its bounds, beginning and end', () => {
  expect(drawChart(score, plainScreen(30))).toBe(
    [
      'Score',
      '0.00 → 0.39  min 0.00  max 0.…',
      '0.39 ┤                     ⡠⠤⠊',
      '     │                  ⡠⠤⠊',
      '     │               ⡠⠤⠊',
      '     │            ⡠⠤⠊',
      '0.17 ┤         ⡠⠒⠊',
      '     │      ⡠⠒⠊',
      '     │   ⡠⠒⠊',
      '0.00 ┤⡠⠒⠊',
      '     └────────────────────────',
      '      1        update       40',
      '',
    ].join('\n'),
  )
})

test('the same in ASCII', () => {
  const text = drawChart(score, plainScreen(50, true))
  expect(text).toMatch(/^[ -~\n]*$/)
  expect(text.split('\n').slice(1, 3)).toEqual([
    '0.00 > 0.39  min 0.00  max 0.39',
    '0.39 +                                       *****',
  ])
})

test('nothing but gaps', () => {
  const values = [Number.NaN, Number.POSITIVE_INFINITY]
  expect(drawChart({ ...score, values }, plainScreen(40))).toBe('Score: no values yet\n')
})

test('what lies beyond the bounds is drawn at the edge', () => {
  const lines = drawChart({ ...score, values: [5, -5], range: [0, 1] }, plainScreen(12)).split('\n')
  expect([lines[2], lines[9]]).toEqual(['1.00 ┤⢣', '0.00 ┤     ⢣'])
})

const anySeries = fc.array(fc.oneof(fc.double(), fc.integer({ min: -5, max: 5 })), { maxLength: 400 })
const anyText = fc.string({ unit: 'binary' })

test('never wider than the screen, whatever the values and the title', () => {
  fc.assert(
    fc.property(
      anySeries,
      anyText,
      fc.integer({ min: 20, max: 130 }),
      fc.boolean(),
      (values, title, columns, ascii) => {
        const chart = { ...score, title, values, range: [0, 1] as const }
        const text = drawChart(chart, plainScreen(columns, ascii))
        for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
        expect(text.replaceAll('\n', '')).toMatch(
          ascii ? /^[ -~]*$/ : /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u,
        )
      },
    ),
  )
})

test.each([
  [[], ''],
  [[Number.NaN], ''],
  [[7], '▄'],
  [[2, 2, 2], '▄▄▄'],
  [[0, 1, 2, 3, 4, 5, 6, 7], '▁▂▃▄▅▆▇█'],
  [[Number.MAX_VALUE, -Number.MAX_VALUE], '█▁'],
])('sparkline of %o is "%s"', (values, text) => expect(sparkline(values, 60)).toBe(text))

test('a sparkline condenses', () => {
  expect(sparkline(rising, 8)).toBe('▁▂▃▄▅▆▇█')
  fc.assert(
    fc.property(anySeries, fc.integer({ min: -3, max: 80 }), (series, width) => {
      expect(sparkline(series, width).length).toBeLessThanOrEqual(Math.max(0, width))
    }),
  )
})

test('a moving mean has only whole means', () => {
  expect(movingMean([1, 3, 5, 7], 2)).toEqual([2, 4, 6])
  expect(movingMean([1, 3], 1)).toEqual([1, 3])
  expect(movingMean([1], 2)).toEqual([])
})
