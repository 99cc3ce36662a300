import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGraph } from '../../../test/arbitrary-graph.ts'
import type { Realization } from '../../library/role-space.ts'
import { AgentGraph } from '../agent-graph.ts'
import { drawGraph } from './terminal.ts'

describe('drawings', () => {
  test('the empty graph is a direct answer', () => {
    expect(drawGraph(AgentGraph.empty)).toBe(
      picture(`
        ╭─────────────────╮
        │  direct answer  │
        ╰─────────────────╯`),
    )
  })

  test('a chain with an edge that skips a unit', () => {
    const graph = graphOf(['planner', 'atomic', []], ['solver', 'group', [0]], ['checker', 'atomic', [0, 1]])
    expect(drawGraph(graph)).toBe(
      picture(`
        ┌─────────┐
        │ planner │
        └────┬────┘
             ├───────────┐
             │           ▼
             │  ╔═════════════════╗
             │  ║ solver (group)  ║
             │  ╚════════╤════════╝
             └───┐   ┌───┘
                 ▼   ▼
              ┌─────────┐
              │ checker │
              └────┬────┘
                   ▼
            ╭─────────────╮
            │  finalizer  │
            ╰─────────────╯`),
    )
  })

  test('the same chain in ASCII', () => {
    const graph = graphOf(['planner', 'atomic', []], ['solver', 'group', [0]], ['checker', 'atomic', [0, 1]])
    expect(drawGraph(graph, { ascii: true })).toBe(
      picture(`
        +---------+
        | planner |
        +----+----+
             +-----------+
             |           v
             |  #=================#
             |  # solver (group)  #
             |  #========+========#
             +---+   +---+
                 v   v
              +---------+
              | checker |
              +----+----+
                   v
            .-------------.
            |  finalizer  |
            '-------------'`),
    )
  })

  test('where two lines cross, the horizontal one is interrupted', () => {
    const graph = graphOf(
      ['a', 'atomic', []],
      ['b', 'atomic', []],
      ['c', 'atomic', [0, 1]],
      ['d', 'atomic', [0, 1]],
    )
    expect(drawGraph(graph)).toBe(
      picture(`
        ┌─────┐   ┌─────┐
        │  a  │   │  b  │
        └──┬──┘   └──┬──┘
           │       ┌─┴───────────┐
           └───┬───│─────────┐   │
               ▼   ▼         ▼   ▼
            ┌─────────┐   ┌─────────┐
            │    c    │   │    d    │
            └────┬────┘   └────┬────┘
                 └─────┐   ┌───┘
                       ▼   ▼
                  ╭─────────────╮
                  │  finalizer  │
                  ╰─────────────╯`),
    )
  })

  test('names that do not fit are listed below', () => {
    const names = ['first', 'second', 'third'].map((name) => `${name}_${'x'.repeat(30)}`)
    const graph = graphOf([names[0]!, 'atomic', []], [names[1]!, 'group', []], [names[2]!, 'atomic', []])
    expect(drawGraph(graph, { columns: 60 })).toBe(
      picture(`
        ┌─────┐   ╔═════╗   ┌─────┐
        │  1  │   ║  2  ║   │  3  │
        └──┬──┘   ╚══╤══╝   └──┬──┘
           └─────┐   │   ┌─────┘
                 ▼   ▼   ▼
              ╭─────────────╮
              │  finalizer  │
              ╰─────────────╯

        1 = first_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        2 = second_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx (group)
        3 = third_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`),
    )
  })

  test('if not even numbered boxes fit, a list says who listens to whom', () => {
    const graph = graphOf(['a', 'atomic', []], ['b', 'group', []], ['c', 'atomic', [0, 1]])
    expect(drawGraph(graph, { columns: 12 })).toBe('1 = a\n2 = b (group)\n3 = c, listens to 1, 2\n')
  })

  test('wide characters take two cells', () => {
    expect(drawGraph(graphOf(['数学', 'atomic', []]))).toBe(
      picture(`
          ┌─────────┐
          │  数学   │
          └────┬────┘
               ▼
        ╭─────────────╮
        │  finalizer  │
        ╰─────────────╯`),
    )
  })
})

describe('hostile role names', () => {
  const hostile = '\u001b[31m\u202eevil\r\n\u0007'

  test('are shown escaped', () => {
    const drawn = drawGraph(graphOf([hostile, 'atomic', []]))
    expect(drawn).toContain('\\u{1b}[31m\\u{202e}evil\\u{d}\\n\\u{7}')
    expect(drawn.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  test('ASCII stays ASCII', () => {
    expect(drawGraph(graphOf(['é 数 🤖', 'group', []], [hostile, 'atomic', [0]]), { ascii: true })).toMatch(
      /^[ -~\n]*$/,
    )
  })
})

describe('every edge, and no other, can be read back from the drawing', () => {
  const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']
  test.each([
    ['box drawing', false, 6],
    ['ASCII', true, 6],
    ['box drawing', false, 8],
    ['ASCII', true, 8],
  ])('%s (ascii: %s), up to %i units', (_, ascii, maxUnits) => {
    fc.assert(
      fc.property(arbitraryGraph({ maxUnits }), (anonymous) => {
        const graph = AgentGraph.of(
          anonymous.units.map((unit, position) => ({ ...unit, role: names[position]! })),
        )
        const drawn = drawGraph(graph, { ascii, columns: 1000 })
        if (graph.size > 0) expect(readEdges(drawn, ascii)).toEqual(edgesOf(graph))
        expect(drawGraph(graph, { ascii, columns: 1000 })).toBe(drawn)
      }),
      { numRuns: 150 },
    )
  })
})

function graphOf(...units: (readonly [string, Realization, readonly number[]])[]): AgentGraph {
  return AgentGraph.of(
    units.map(([role, realization, predecessors]) => ({ role, realization, predecessors })),
  )
}

/** A drawing from the source, without the first line break and the indentation. */
function picture(text: string): string {
  return `${text
    .slice(1)
    .split('\n')
    .map((line) => line.slice(8))
    .join('\n')}\n`
}

function edgesOf(graph: AgentGraph): string[] {
  const name = (unit: number) => {
    const { role, realization } = graph.units[unit]!
    return realization === 'group' ? `${role} (group)` : role
  }
  const inner = graph.units.flatMap(({ predecessors }, unit) =>
    predecessors.map((p) => `${name(p)} -> ${name(unit)}`),
  )
  return [...inner, ...graph.sinks.map((unit) => `${name(unit)} -> finalizer`)].sort()
}

type Direction = 'up' | 'down' | 'left' | 'right'
const step = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] } as const
const opposite = { up: 'down', down: 'up', left: 'right', right: 'left' } as const
const ends: Record<string, readonly Direction[]> = {
  '│': ['up', 'down'],
  '|': ['up', 'down'],
  '─': ['left', 'right'],
  '-': ['left', 'right'],
  '└': ['up', 'right'],
  '┘': ['up', 'left'],
  '┌': ['down', 'right'],
  '┐': ['down', 'left'],
  '├': ['up', 'down', 'right'],
  '┤': ['up', 'down', 'left'],
  '┬': ['left', 'right', 'down'],
  '┴': ['left', 'right', 'up'],
  '▼': ['up'],
  v: ['up'],
}

interface Box {
  readonly label: string
  readonly top: number
  readonly left: number
  readonly right: number
}

/** Follows the lines like a person would, without knowing the graph or its layout. */
function readEdges(drawn: string, ascii: boolean): string[] {
  const lines = drawn.split('\n')
  const at = (row: number, column: number) => lines[row]?.[column] ?? ' '
  const boxes = findBoxes(lines)
  const boxAt = (row: number, column: number) =>
    boxes.find(({ top, left, right }) => row >= top && row <= top + 2 && column >= left && column <= right)
  const arrow = ascii ? 'v' : '▼'
  const edges: string[] = []
  for (const target of boxes) {
    for (let column = target.left; column <= target.right; column += 1) {
      if (at(target.top - 1, column) !== arrow) continue
      const sources = sourcesOf(target.top - 1, column)
      expect(sources.size).toBe(1)
      edges.push(...[...sources].map((source) => `${source} -> ${target.label}`))
    }
  }
  return edges.sort()

  /** All boxes whose lower edge leads to the line at this place. */
  function sourcesOf(row: number, column: number): Set<string> {
    const sources = new Set<string>()
    const seen = new Set<string>()
    const open: [number, number][] = [[row, column]]
    for (let cell = open.pop(); cell; cell = open.pop()) {
      const [r, c] = cell
      if (seen.has(`${r},${c}`)) continue
      seen.add(`${r},${c}`)
      for (const direction of endsAt(r, c)) {
        const [dr, dc] = step[direction]
        let [nr, nc] = [r + dr, c + dc]
        // A vertical line covers the horizontal one it crosses.
        while (dc !== 0 && (at(nr, nc) === '│' || at(nr, nc) === '|') && !boxAt(nr, nc)) nc += dc
        const box = boxAt(nr, nc)
        if (box) {
          if (direction === 'up' && '┬╤+'.includes(at(nr, nc))) sources.add(box.label)
          else expect(`${at(r, c)} ${direction}`).toBe('the way from an arrow into its box')
        } else {
          expect(endsAt(nr, nc)).toContain(opposite[direction])
          open.push([nr, nc])
        }
      }
    }
    return sources
  }

  function endsAt(row: number, column: number): readonly Direction[] {
    const sign = at(row, column)
    if (sign !== '+') return ends[sign] ?? []
    return (['up', 'down', 'left', 'right'] as const).filter((direction) => {
      const next = at(row + step[direction][0], column + step[direction][1])
      return (direction === 'up' || direction === 'down' ? '|+v' : '-+').includes(next)
    })
  }
}

function findBoxes(lines: readonly string[]): Box[] {
  const boxes: Box[] = []
  const labelled = /[│║|#]( +[^│║|#]*[A-Za-z)] +)[│║|#]/g
  for (const [row, line] of lines.entries()) {
    for (const match of line.matchAll(labelled)) {
      const left = match.index
      const right = left + match[0].length - 1
      const corner =
        /[┌╔╭+#.]/.test(lines[row - 1]?.[left] ?? '') && /[└╚╰+#']/.test(lines[row + 1]?.[left] ?? '')
      if (corner) boxes.push({ label: match[1]!.trim(), top: row - 1, left, right })
    }
  }
  return boxes
}
