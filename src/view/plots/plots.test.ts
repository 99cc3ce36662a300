import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actionHeat } from '../action-heat.ts'
import { niceTicks, padded, shortTick } from './axis.ts'
import { differencePlot } from './difference-plot.ts'
import { graphPlot } from './graph-plot.ts'
import { heatMap } from './heat-map.ts'
import { labelPlaces } from './label-places.ts'
import { linePlot } from './line-plot.ts'
import { frontierPositions } from './pareto.ts'
import { scatterPlot } from './scatter-plot.ts'
import { escaped, svgText, textWidth } from './svg.ts'

test('the Pareto frontier has the undominated points, by rising cost', () => {
  const points = [
    { x: 5, y: 0.7 },
    { x: 1, y: 0.5 },
    { x: 6, y: 0.7 },
    { x: 3, y: 0.4 },
    { x: 5, y: 0.6 },
    { x: 9, y: 0.9 },
  ]
  expect(frontierPositions(points)).toEqual([1, 0, 5])
  expect(frontierPositions([])).toEqual([])
})

test('ticks are round numbers within the range', () => {
  expect(niceTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1])
  expect(niceTicks(3, 3)).toEqual([3])
  expect(niceTicks(-37, 41, 4)).toEqual([-20, 0, 20, 40])
  expect(padded([])).toEqual([0, 1])
  const [low, high] = padded([2, 4, Number.NaN])
  expect([low < 2, high > 4]).toEqual([true, true])
})

test('any text stays text in every drawing', () => {
  const text = '<script>"\'&</script>'
  const shown = escaped(text)
  const interval = { mean: 0.5, low: 0.4, high: 0.6 }
  const roles = { [text]: { atomic: 1, group: 0 } }
  const update = { update: 0, actions: { roles, units: [1], edgeShare: 0 } }
  const drawings = [
    graphPlot([{ role: text, realization: 'group', predecessors: [] }]),
    scatterPlot({
      points: [{ label: text, tokens: 5, score: interval }],
      metric: text,
      formatTokens: String,
    }),
    differencePlot([{ label: text, difference: 0.1, low: 0.05, high: 0.2 }], text),
    heatMap(actionHeat([update])),
    linePlot({ title: text, x: [1, 2], lines: [{ name: text, values: [0, 1] }], format: String }),
  ]
  for (const drawing of drawings) {
    expect(svgText(drawing)).not.toContain('<script')
    expect(svgText(drawing)).toMatch(/^<svg viewBox="0 0 /)
  }
  for (const drawing of drawings.slice(1)) expect(svgText(drawing)).toContain(shown)
})

test('the heat map shows shares of placed units, most recent first', () => {
  const updates = Array.from({ length: 120 }, (_, update) => ({
    update,
    actions: {
      units: [1],
      edgeShare: 0,
      roles: {
        early: { atomic: update < 60 ? 3 : 0, group: 0 },
        late: { atomic: 1, group: update < 60 ? 0 : 1 },
      },
    },
  }))
  const { rows, starts, last } = actionHeat(updates)
  expect(starts.length).toBe(60)
  expect([starts[0], starts[1], last]).toEqual([1, 3, 120])
  expect(rows.map(({ role, granularity }) => `${role} ${granularity}`)).toEqual([
    'late atomic',
    'late group',
    'early atomic',
  ])
  expect(rows[0]!.shares[0]).toBe(0.25)
  expect(rows[1]!.shares.at(-1)).toBe(0.5)
})

test('no wire passes behind a box', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat()), { maxLength: 9 }), (lists) => {
      const units = lists.map((list, position) => ({
        role: 'a_role_with_a_name_of_some_length'.slice(0, 4 + (list.length % 29)),
        realization: 'atomic' as const,
        predecessors: position === 0 ? [] : [...new Set(list.map((one) => one % position))],
      }))
      const svg = svgText(graphPlot(units))
      const boxes = [
        ...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="26" class="unit"/g),
      ].map((box) => ({ left: Number(box[1]), top: Number(box[2]), width: Number(box[3]) }))
      expect(boxes).toHaveLength(units.length)
      // Straight segments cross the columns a wire passes; the first is its start.
      for (const [, path] of svg.matchAll(/ d="([^"]+)"/g)) {
        const heights = [...path!.matchAll(/ ([\d.]+)H([\d.]+)C/g)].slice(1)
        for (const [, y, right] of heights)
          for (const { left, top, width } of boxes)
            expect(left === Number(right) - width && Number(y) > top && Number(y) < top + 26).toBe(false)
      }
    }),
  )
})

test('ticks lose only insignificant zeros', () => {
  const labels = ['2.00 k', '12.5 k', '100 k', '0.600', '-10', '0.000', '1.0 s', '20 %']
  expect(labels.map(shortTick)).toEqual(['2 k', '12.5 k', '100 k', '0.6', '-10', '0', '1 s', '20 %'])
})

test('point labels never overlap', () => {
  const frame = { left: 50, right: 700, top: 30, bottom: 330 }
  const point = fc.record({ x: fc.integer({ min: 50, max: 690 }), y: fc.integer({ min: 60, max: 320 }) })
  fc.assert(
    fc.property(fc.array(point, { maxLength: 7 }), (points) => {
      const marks = points.map(({ x, y }, index) => {
        return { label: `organisation ${index}`, x, y, top: y - 30, bottom: y + 30 }
      })
      const width = textWidth('organisation 0')
      const boxes = labelPlaces(marks, frame).map(({ x, y, anchor }) => ({
        x: anchor === 'start' ? x : x - width,
        y,
      }))
      for (const [index, a] of boxes.entries())
        for (const b of boxes.slice(index + 1))
          expect(Math.abs(a.x - b.x) < width && Math.abs(a.y - b.y) < 10).toBe(false)
    }),
  )
})

test('the last points have room for their labels on their right', () => {
  const points = ['untrained', 'trained', 'shuffled'].map((label, place) => ({
    ...{ label, tokens: 7180 + 110 * place },
    score: { mean: 0.65, low: 0.4, high: 0.8 },
  }))
  for (const width of [340, 760, 1200]) {
    const svg = svgText(scatterPlot({ points, metric: 'accuracy', formatTokens: String, width }))
    expect(svg).toMatch(/text-anchor="start"[^>]*>shuffled</)
  }
})

test('a long name is cut and shown in full by its title', () => {
  const role = 'a_role_whose_name_is_far_longer_than_any_box_of_a_graph'
  const svg = svgText(graphPlot([{ role, realization: 'atomic', predecessors: [] }]))
  expect(svg).toMatch(new RegExp(`>a_role_[a-z_]+…<title>${role}</title></text>`))
  expect(
    svgText(graphPlot([{ role: 'uncertainty_calibrator', realization: 'atomic', predecessors: [] }])),
  ).toContain('>uncertainty_calibrator</text>')
})
