import { expect, test } from 'vitest'
import type { ExecutionEvent } from '../execution/events.ts'
import { noUsage } from '../execution/models/usage.ts'
import { LiveNodes } from './live-nodes.ts'

/** A terminal that keeps what its screen shows after every write. */
class Screen {
  readonly isTTY = true
  readonly columns: number
  readonly rows: number
  #lines: string[] = ['']
  #row = 0
  scrolled = 0
  widest = 0

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  write(text: string): boolean {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what a terminal reads
    for (const [token] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|\n|[^\u001b\n]+/g)) {
      const [, count, command] = /^.\[(\d*)([A-Za-z])$/.exec(token) ?? []
      if (command === 'A') this.#row = Math.max(0, this.#row - Number(count))
      else if (command === 'J') this.#lines = [...this.#lines.slice(0, this.#row), '']
      else if (command === 'K') this.#lines[this.#row] = ''
      else if (command === undefined && token === '\n') this.#feed()
      else if (command === undefined) {
        this.#lines[this.#row] = (this.#lines[this.#row] ?? '') + token
        this.widest = Math.max(this.widest, this.#lines[this.#row]!.length)
      }
    }
    return true
  }

  #feed(): void {
    this.#row += 1
    this.#lines[this.#row] ??= ''
    if (this.#row >= this.rows) this.scrolled += 1
  }
}

function show(columns: number, rows: number, count: number): Screen {
  const screen = new Screen(columns, rows)
  const { CI } = process.env
  delete process.env['CI']
  const view = new LiveNodes(screen as unknown as NodeJS.WriteStream)
  if (CI !== undefined) process.env['CI'] = CI
  const names = Array.from({ length: count }, (_, index) => `node_with_a_rather_long_name_${index}`)
  const common = { execution: 'x' } as const
  const tell = (event: ExecutionEvent) => view.listen(event)
  tell({
    ...common,
    type: 'execution-start',
    task: 't',
    nodes: names.map((node, index) => ({
      ...{ node, role: 'r', executor: node, part: 'worker' as const },
      predecessors: names.slice(0, index),
    })),
  })
  for (const node of names) {
    tell({ ...common, type: 'node-start', node })
    tell({ ...common, type: 'node-end', node, status: 'ok', durationMs: 10 })
    view.notice(`after ${node}`)
  }
  tell({
    ...common,
    type: 'execution-end',
    status: 'answered',
    usage: noUsage,
    cost: 'unpriced',
    durationMs: 10,
  })
  return screen
}

test.each([
  [80, 24, 13],
  [40, 24, 13],
  [120, 12, 13],
])('stays within a terminal of %d by %d with %d nodes, and repeats nothing', (columns, rows, count) => {
  const screen = show(columns, rows, count)
  expect(screen.widest).toBeLessThan(columns)
  const shown = screen.text.split('\n').filter((line) => line.includes('✓'))
  expect(new Set(shown).size).toBe(shown.length)
  expect(shown.length).toBe(Math.min(count, rows - 2))
  if (count > rows - 1) expect(screen.text).toContain(`… and ${count - shown.length} more`)
})
