import { expect, test } from 'vitest'
import { FakeTerminal } from '../../../test/fake-terminal.ts'
import { plainScreen } from '../../../test/plain-screen.ts'
import { noUsage } from '../../models/usage.ts'
import { liveNodes } from './live-nodes.ts'

function show(columns: number, rows: number, count: number) {
  const terminal = new FakeTerminal(columns, rows)
  const view = liveNodes(terminal.stream, true, () => plainScreen(columns))
  const names = Array.from({ length: count }, (_, index) => `node_with_a_rather_long_name_${index}\u001b[2J`)
  const common = { execution: 'x' } as const
  view.listen({
    ...common,
    type: 'execution-start',
    task: 't',
    nodes: names.map((node, index) => ({
      ...{ node, role: 'r', executor: node, part: 'worker' as const },
      predecessors: names.slice(0, index),
    })),
  })
  for (const node of names) {
    view.listen({ ...common, type: 'node-start', node })
    if (node !== names.at(-1))
      view.listen({ ...common, type: 'node-end', node, status: 'ok', durationMs: 10 })
    view.notice('between')
  }
  const end = () => {
    view.listen({ ...common, type: 'node-end', node: names.at(-1)!, status: 'ok', durationMs: 10 })
    view.listen({
      ...common,
      type: 'execution-end',
      status: 'answered',
      usage: noUsage,
      cost: 'unpriced',
      durationMs: 10,
    })
  }
  return { terminal, end }
}

test.each([
  [80, 24, 13],
  [40, 24, 13],
  [120, 12, 13],
])('stays within a %d by %d terminal with %d nodes and repeats nothing', (columns, rows, count) => {
  const { terminal, end } = show(columns, rows, count)
  expect(terminal.lines.at(-1)).toMatch(/^ {2}● node_with/)
  end()
  const ended = terminal.lines.filter((line) => line.startsWith('✓'))
  expect(new Set(ended).size).toBe(count)
  expect(ended.map((line) => line.split('  ').at(-1))).toEqual(new Array(count).fill('0 calls, 0 tokens'))
  expect(terminal.lines.filter((line) => line.includes('●'))).toEqual([])
  expect(process.listenerCount('SIGCONT')).toBe(0)
})

test('without a terminal it prints a line per event, free of control sequences', () => {
  const terminal = new FakeTerminal(80)
  const view = liveNodes(terminal.stream, false, () => plainScreen())
  const node = 'solver\u001b[2J'
  const nodes = [{ node, role: 'r', executor: node, part: 'atomic' as const, predecessors: [] }]
  view.listen({ execution: 'x', type: 'execution-start', task: 't', nodes })
  view.listen({ execution: 'x', type: 'node-start', node })
  view.listen({ execution: 'x', type: 'node-end', node, status: 'null_answer', durationMs: 1234 })
  expect(terminal.lines).toEqual([
    'Running 1 node:',
    '✓ solver\\u{1b}[2J  1.2 s  0 calls, 0 tokens  no answer of its own',
  ])
})
