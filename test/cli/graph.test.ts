import { expect, test } from 'vitest'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { graphKey } from '../../src/graph/graph-key.ts'
import { magic } from '../magic.ts'

test('shows the probabilities behind each choice, draws the graph and writes it as Mermaid', async () => {
  const { code, stdout } = await magic('graph', '--seed', '7', 'Which planet has the shortest day?')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^1\. ADD \w+ \d+\.\d %/m)
  expect(stdout).toMatch(/as (atomic|group) \d+\.\d %/)
  expect(stdout).toContain('finalizer')
  expect(stdout).toContain('flowchart TD')
  expect(stdout).not.toContain('\u001b')
})

test('gives the same graph for the same seed and question, and every detail as JSON', async () => {
  const ask = async (seed: string) =>
    JSON.parse((await magic('graph', '--json', '--seed', seed, 'Is the sky blue?')).stdout)
  const [first, again, other] = [await ask('7'), await ask('7'), await ask('8')]
  expect(again).toEqual(first)
  expect(other.steps[0].roles).not.toEqual(first.steps[0].roles)
  expect(graphKey(AgentGraph.of(first.graph.units))).toBe(first.key)
  expect(first.steps.at(-1).action).toEqual({ type: 'stop' })
  for (const { roles, stop } of first.steps) {
    const total = Object.values<number>(roles).reduce((sum, probability) => sum + probability, stop)
    expect(total).toBeCloseTo(1, 9)
  }
})

test('obeys a restriction, a profile and the limits', async () => {
  const { stdout } = await magic(
    ...[
      'graph',
      '--json',
      '--restriction',
      'all-group',
      '--profile',
      'gsm8k',
      '--max-units',
      '5',
      '--max-depth',
      '2',
      'How far?',
    ],
  )
  const { graph, steps } = JSON.parse(stdout)
  expect(Object.keys(steps[0].roles)).toHaveLength(6)
  for (const { realization, predecessors } of graph.units) {
    expect(realization).toBe('group')
    expect(predecessors).toEqual([])
  }
})

test.each([
  [['graph', '  '], 'question is empty'],
  [['graph', '--seed', 'many', 'q'], '--seed'],
  [['graph', '--library', 'no-such.yaml', 'q'], 'no-such.yaml'],
  [['graph', '--restriction', 'some', 'q'], 'all-atomic'],
  [['graph'], "missing required argument 'question'"],
  [['grpah', 'q'], 'graph'],
])('refuses %j with exit code 2 and says why', async (words, reason) => {
  const { code, stderr } = await magic(...words)
  expect(stderr).toContain(reason)
  expect(stderr).not.toContain('    at ')
  expect(code).toBe(2)
})

test('prints help', async () => {
  const { code, stdout } = await magic('graph', '--help')
  expect(code).toBe(0)
  expect(stdout).toContain('Examples:')
})
