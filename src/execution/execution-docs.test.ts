import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { content, final, ScriptedModel, toolRequest } from '../../test/scripted-model.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { numericString } from '../library/answer-contract.ts'
import { paperLibrary } from '../library/paper-library/paper-library.ts'
import { defaultSettings } from '../settings/execution.ts'
import { benchmarkProfiles } from '../tasks/benchmarks/list.ts'
import { executeGraph } from './execute-graph.ts'
import { openToolbox } from './toolbox.ts'
import type { ExecutionEvent } from './trace/events.ts'

// Keeps docs/execution.md accurate.

const page = readFileSync(new URL('../../docs/execution.md', import.meta.url), 'utf8')

/** The first cells of the table under a heading, without backquotes. */
function rows(heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!
  const lines = section.split('\n').filter((line) => line.startsWith('| '))
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', ''))
      .slice(1, -1),
  )
}

async function run() {
  const replies: Record<string, string[]> = {
    quantitative_modeler: [content('s = 240 km / 3 h, with s in km/h.', null)],
    calculation_auditor: [toolRequest('calculator', { expression: '240 / 3' }), content('Computed.', '80')],
    finalizer: [final('One checked result.', '80')],
  }
  const model = new ScriptedModel(({ executor }) => replies[executor.id]!.shift()!)
  const events: ExecutionEvent[] = []
  const execution = await executeGraph({
    graph: AgentGraph.of([
      { role: 'quantitative_modeler', realization: 'atomic', predecessors: [] },
      { role: 'calculation_auditor', realization: 'atomic', predecessors: [0] },
    ]),
    task: {
      id: 'train',
      question: 'A train needs 3 hours for 240 km. How fast is it, in km per hour?',
      metadata: {},
    },
    library: paperLibrary,
    profile: benchmarkProfiles.gsm8k,
    contract: numericString,
    model,
    tools: openToolbox(),
    onEvent: (event) => events.push(event),
  })
  return { model, execution, events }
}

describe('docs/execution.md', () => {
  test('shows a real request with its fields in order', async () => {
    const { model, execution } = await run()
    const [, shown] = /```json\n(.*?)```/s.exec(page)!
    const [, second] = model.askedOf('calculation_auditor')
    expect(JSON.stringify(JSON.parse(shown!))).toBe(second!.raw.user)
    expect(execution).toMatchObject({ status: 'answered', final: 'FINAL: 80' })
  })

  test('lists every setting with its default', () => {
    const flat = (value: object, prefix = ''): string[][] =>
      Object.entries(value).flatMap(([name, part]: [string, unknown]) =>
        typeof part === 'object' && part !== null && Object.keys(part).length > 0
          ? flat(part, `${prefix}${name}.`)
          : [[prefix + name, typeof part === 'number' ? part.toLocaleString('en') : String(part)]],
      )
    const expected = flat({ ...defaultSettings, executionSeconds: 'none', prices: 'none' })
    const listed = rows('Settings').map(([name, value]) => [name, value])
    expect(listed.sort()).toEqual(expected.sort())
  })

  test('lists all fields of a trace', async () => {
    const { execution } = await run()
    const told = rows('Trace')
      .map(([field, text]) => `${field} ${text}`)
      .join(' ')
    const fields = (value: unknown): string[] =>
      Array.isArray(value)
        ? value.flatMap(fields)
        : typeof value === 'object' && value !== null
          ? Object.keys(value)
          : []
    const { nodes, ...top } = execution.trace
    const calls = nodes.flatMap((node) => node.calls)
    const known = new Set([
      ...fields(top),
      ...fields(nodes),
      ...fields(calls),
      ...fields(calls.map(({ request }) => request)),
      ...fields(calls.flatMap(({ attempts }) => attempts)),
      ...fields(nodes.map(({ tool }) => tool)),
    ])
    const words = new Set(told.match(/\w+/g))
    expect([...known].filter((field) => !words.has(field))).toEqual([])
  })

  test('names all events', async () => {
    const { events } = await run()
    for (const type of new Set(events.map((event) => event.type))) expect(page).toContain(`\`${type}\``)
  })
})
