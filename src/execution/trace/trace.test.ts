import { describe, expect, test } from 'vitest'
import { content, final, type Scripted, ScriptedModel, toolRequest } from '../../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { freeText } from '../../library/answer-contract.ts'
import { executionSettings } from '../../settings/execution.ts'
import { executeGraph } from '../execute-graph.ts'
import { openToolbox } from '../toolbox.ts'
import { type Trace, tracedRequest } from './trace.ts'

// Two twins, a group that uses a tool, is repaired and truncated, and a successor.
const graph = AgentGraph.of([
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'c', realization: 'group', predecessors: [0, 1] },
  { role: 'b', realization: 'atomic', predecessors: [2] },
])
const question = `A question that is long enough to notice if it is written down more than once. ${'x'.repeat(500)}`

async function run(settings = {}, budgets = {}) {
  const script: Record<string, Scripted[]> = {
    c_1: [toolRequest('calculator', { expression: '2+3' })],
    c_2: [content('x', '')],
    c_3: [{ text: '{"kind', finish: 'length' }],
  }
  const model = new ScriptedModel(({ executor: { id, part } }) => {
    if (part === 'finalizer') return final('Done.', 'yes')
    return script[id]?.shift() ?? content(`${id} says: ${'long words '.repeat(30)}`, id)
  })
  const execution = await executeGraph({
    graph,
    task: { id: 'task-1', question, metadata: {} },
    library: tinyLibrary,
    profile: tinyProfile,
    contract: freeText,
    model,
    tools: openToolbox(),
    settings: executionSettings.parse({ ...settings, budgets }),
    clock: { now: () => Date.UTC(2026, 10, 16), sleep: async () => {} },
  })
  const trace = JSON.parse(JSON.stringify(execution.trace)) as Trace
  return { execution, model, trace }
}

describe('a trace', () => {
  test('survives JSON', async () => {
    const { execution, trace } = await run()
    expect(trace).toEqual(execution.trace)
  })

  test.each([{}, { request: 4000, analysis: 4000 }])(
    'reproduces every request as sent: %j',
    async (budgets) => {
      const { model, trace } = await run({}, budgets)
      const traced = trace.nodes.flatMap((node) => node.calls.map((call) => tracedRequest(trace, call)))
      const sent = model.heard.map(({ raw: { system, user } }) => ({ system, user }))
      const key = (request: { system: string; user: string }) => JSON.stringify(request)
      expect(traced.map(key).sort()).toEqual(sent.map(key).sort())
    },
  )

  test('records what happened, when and for how long', async () => {
    const { trace } = await run()
    expect(trace).toMatchObject({
      version: 1,
      startedAt: '2026-11-16T00:00:00.000Z',
      status: 'answered',
      answer: 'yes',
      task: 'task-1',
      graph: { units: graph.units },
      library: tinyLibrary.fingerprint,
      contract: 'free-text',
      model: { provider: 'scripted', model: 'm' },
      usage: { calls: 11, attempts: 11 },
      cost: 'unpriced',
    })
    expect(trace.nodes.map(({ node, calls }) => [node, calls.length])).toEqual([
      ['u0', 1],
      ['u1', 1],
      ['u2.w0', 2],
      ['u2.w1', 2],
      ['u2.w2', 2],
      ['u2.aggregator', 1],
      ['u3', 1],
      ['finalizer', 1],
    ])
    const [worker] = trace.nodes.filter(({ node }) => node === 'u2.w0')
    expect(worker).toMatchObject({
      executor: 'c_1',
      part: 'worker',
      status: 'ok',
      tool: { tool: 'calculator', payload: { expression: '2+3' }, observation: { status: 'ok' } },
      calls: [
        { reply: toolRequest('calculator', { expression: '2+3' }), attempts: [{ ok: true, finish: 'stop' }] },
        { attempts: [{ usage: { input: 10, cachedInput: 4, output: 5 } }] },
      ],
    })
    const times = trace.nodes.flatMap(({ startMs, durationMs }) => [startMs, durationMs])
    expect(times.every((time) => time >= 0)).toBe(true)
  })

  test('stores task, prompts and messages once', async () => {
    const { trace } = await run()
    const json = JSON.stringify(trace)
    expect(json.split(question).length - 1).toBe(1)
    expect(json.split('You decide.').length - 1).toBe(1)
    // A reply and the message made from it.
    expect(json.split('c_2 says').length - 1).toBe(2)
  })

  test('without content stores none', async () => {
    const { trace } = await run({ traceContent: false })
    expect(trace.texts).toEqual({})
    const json = JSON.stringify(trace)
    for (const said of [question, 'You are', 'long words', '2+3', 'yes']) expect(json).not.toContain(said)
    expect(trace.usage.calls).toBe(11)
  })
})
