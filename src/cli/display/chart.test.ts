import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { plainScreen } from '../../../test/plain-screen.ts'
import { chartLines } from './chart.ts'
import type { Screen } from './screen.ts'
import { movingMean, sparkline } from './series.ts'

const rising = Array.from({ length: 40 }, (_, index) => index / 100)
const score = { title: 'Score', values: rising, first: 1 }
const drawn = (chart: typeof score, screen: Screen) => screen.text(chartLines(chart, screen))

test('a curve with its bounds, beginning and end', () => {
  expect(chartLines(score, plainScreen(30))).toEqual([
    'Score',
    '0.00 → 0.39  min 0.00  max 0.…',
    '1.00 ┤',
    '     │',
    '     │',
    '     │',
    '     │                      ⢀⣀',
    '     │               ⣀⣀⡤⠴⠒⠚⠉⠉',
    '     │       ⣀⣀⡤⠤⠖⠒⠋⠉⠁',
    '0.00 ┤⣀⡤⠤⠖⠒⠋⠉⠁',
    '     └────────────────────────',
    '      update 1              40',
  ])
})

test('the same in ASCII', () => {
  const text = drawn(score, plainScreen(50, true))
  expect(text).toMatch(/^[ -~\n]*$/)
  expect(text.split('\n')[1]).toBe('0.00 > 0.39  min 0.00  max 0.39')
})

test('a single value is a line, and what lies beyond 0 and 1 is drawn at the edge', () => {
  const [, , top] = chartLines({ ...score, values: [5] }, plainScreen(12))
  expect(top).toBe('1.00 ┤⠉⠉⠉⠉⠉⠉')
  const lines = chartLines({ ...score, values: [5, -5] }, plainScreen(12))
  expect([lines[2], lines[9]]).toEqual(['1.00 ┤⠉⠉⢹', '0.00 ┤   ⣇⣀⣀'])
})

const anySeries = fc.array(fc.oneof(fc.double(), fc.integer({ min: -5, max: 5 })), { maxLength: 400 })

test('never wider than the screen, whatever the values', () => {
  const anyScores = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
    minLength: 1,
    maxLength: 400,
  })
  fc.assert(
    fc.property(anyScores, fc.integer({ min: 20, max: 130 }), fc.boolean(), (values, columns, ascii) => {
      const text = drawn({ ...score, values }, plainScreen(columns, ascii))
      for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
    }),
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
