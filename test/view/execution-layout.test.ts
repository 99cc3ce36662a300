import fc from 'fast-check'
import { expect, test } from 'vitest'
import { executionLayout, fittingLayout, nodeSize } from '../../view/src/parts/execution-layout.ts'

test.each(['right', 'down'] as const)('no edge passes behind a node, going %s', (direction) => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(), { maxLength: 4 }), { maxLength: 14 }), (lists) => {
      const nodes = lists.map((list, position) => ({
        node: `n${position}`,
        predecessors: position === 0 ? [] : [...new Set(list.map((one) => `n${one % position}`))],
      }))
      const { places, paths } = executionLayout(nodes, direction)
      expect(places.size).toBe(nodes.length)
      for (const [edge, path] of paths) {
        const [from, to] = edge.split(' ')
        for (const [node, place] of places) {
          if (node === from || node === to) continue
          const isHit = pointsOf(path).some(
            ({ x, y }) =>
              x > place.x && x < place.x + nodeSize.width && y > place.y && y < place.y + nodeSize.height,
          )
          expect(isHit, `${edge} behind ${node}: ${path}`).toBe(false)
        }
      }
    }),
  )
})

const chain = [
  { node: 'a', predecessors: [] },
  { node: 'b', predecessors: ['a'] },
  { node: 'c', predecessors: ['a', 'b'] },
]

test('an edge begins at the far side of its source and ends at the near side of its target', () => {
  const { places, paths } = executionLayout(chain, 'right')
  const points = pointsOf(paths.get('a c')!)
  const middle = (node: string) => places.get(node)!.y + nodeSize.height / 2
  expect(points[0]).toEqual({ x: places.get('a')!.x + nodeSize.width, y: middle('a') })
  expect(points.at(-1)).toEqual({ x: places.get('c')!.x, y: middle('c') })
  const down = executionLayout(chain, 'down')
  const first = pointsOf(down.paths.get('a b')!)[0]!
  expect(first.y).toBe(down.places.get('a')!.y + nodeSize.height)
})

test('a long graph goes downwards on narrow screens, unless that is as wide', () => {
  const wide = Array.from({ length: 9 }, (_, n) => ({ node: `w${n}`, predecessors: [] }))
  expect(fittingLayout(chain, 1000).direction).toBe('right')
  expect(fittingLayout(chain, 340).direction).toBe('down')
  expect(
    fittingLayout([...wide, { node: 'end', predecessors: wide.map(({ node }) => node) }], 200).direction,
  ).toBe('right')
})

/** Points along a path of M, L and C commands, dense enough to hit every box. */
function pointsOf(path: string): { x: number; y: number }[] {
  const points: { x: number; y: number }[] = []
  const steps = Array.from({ length: 41 }, (_, step) => step / 40)
  for (const [, command, numbers] of path.matchAll(/([MLC])([^MLC]*)/g)) {
    const values = numbers!.trim().split(/\s+/).map(Number)
    const last = points.at(-1)!
    if (command === 'M') points.push({ x: values[0]!, y: values[1]! })
    else if (command === 'L')
      points.push(
        ...steps.map((t) => ({
          x: last.x + (values[0]! - last.x) * t,
          y: last.y + (values[1]! - last.y) * t,
        })),
      )
    else {
      const [x1, y1, x2, y2, x3, y3] = values as [number, number, number, number, number, number]
      const bend = (t: number, ...[a, b, c, d]: [number, number, number, number]) =>
        (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d
      points.push(...steps.map((t) => ({ x: bend(t, last.x, x1, x2, x3), y: bend(t, last.y, y1, y2, y3) })))
    }
  }
  return points
}
