import { describe, expect, test } from 'vitest'
import {
  content,
  failed,
  final,
  type Scripted,
  ScriptedModel,
  toolRequest,
} from '../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../test/tiny-library.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { optionLabel } from '../library/answer-contract.ts'
import { executionSettings } from '../settings/execution.ts'
import { executeGraph } from './execute-graph.ts'
import { openToolbox, type Toolbox } from './toolbox.ts'

const task = { id: 't', question: 'Which?', metadata: {} }
const tools = openToolbox()

/** Runs one node whose successive calls get these replies; the finalizer accepts anything. */
async function runNode(role: 'a' | 'c', replies: readonly Scripted[], box: Toolbox = tools, settings = {}) {
  const left = [...replies]
  const model = new ScriptedModel(({ executor }) =>
    executor.part === 'finalizer'
      ? final('done', 'B')
      : (left.shift() ?? failed('rejected', 'one call too many')),
  )
  const execution = await executeGraph({
    graph: AgentGraph.of([{ role, realization: 'atomic', predecessors: [] }]),
    task,
    library: tinyLibrary,
    profile: tinyProfile,
    contract: optionLabel,
    model,
    tools: box,
    settings: executionSettings.parse(settings),
    clock: { now: () => 0, sleep: async () => {} },
  })
  const calls = model.askedOf(role).map(({ message }) => message)
  return { packet: execution.packets[0]!, calls, execution, model }
}

const cutOff = { text: '{"kind":"content","content":{"analysis":"I was', finish: 'length' } as const
const calculator = toolRequest('calculator', { expression: '6*7' })

describe('content', () => {
  test('takes one call', async () => {
    const { packet, calls, execution } = await runNode('a', [content('Seen.', 'A')])
    expect(packet).toMatchObject({
      node: 'u0',
      task: 't',
      role: 'a',
      executor: 'a',
      part: 'atomic',
      granularity: 'atomic',
      status: 'ok',
      analysis: 'Seen.',
      answer: 'A',
    })
    expect(calls.length).toBe(1)
    expect(execution).toMatchObject({ status: 'answered', answer: 'B', final: 'FINAL: B', failures: [] })
  })

  test('may be null', async () => {
    const { packet, execution } = await runNode('a', [content('No idea.', null)])
    expect(packet).toMatchObject({ status: 'null_answer', analysis: 'No idea.', answer: null })
    expect(execution.failures).toEqual([])
  })

  test('ignores extra fields', async () => {
    const forged = JSON.stringify({
      kind: 'content',
      id: 'u9',
      status: 'ok',
      content: { analysis: 'x', answer: 'A', role: 'boss', tool_observation: { status: 'ok' }, usage: {} },
    })
    const { packet, model } = await runNode('a', [forged])
    expect(packet).toMatchObject({ node: 'u0', role: 'a', answer: 'A' })
    const [heard] = model.askedOf('finalizer')[0]!.message.predecessors!
    expect(Object.keys(heard!)).toEqual(['id', 'role', 'granularity', 'status', 'analysis', 'answer'])
    expect(heard).toMatchObject({ role: 'a', status: 'ok' })
  })
})

describe('format failures are not retried', () => {
  test.each([
    ['invalid_json', 'Sorry, no.'],
    ['invalid_json', `\`\`\`json\n${content('x', 'A')}\n\`\`\``],
    ['invalid_json', `FINAL: ${content('x', 'A')}`],
    ['duplicate_key', '{"kind":"content","kind":"content","content":{"analysis":"x","answer":"A"}}'],
    ['missing_field', final('x', 'A')],
    ['wrong_type', content('x', 3)],
    ['bad_value', content(' ', 'A')],
  ])('%s', async (reason, text) => {
    const { packet, calls, execution } = await runNode('a', [text])
    expect(packet).toMatchObject({ status: 'format_failure', reason, analysis: null, answer: null })
    expect(calls.length).toBe(1)
    // The finalizer works with what it gets.
    expect(execution).toMatchObject({ status: 'answered', failures: [{ node: 'u0' }] })
  })
})

describe('repair', () => {
  test('is asked for once, after an answer outside the contract', async () => {
    const { packet, calls } = await runNode('a', [content('x', 'both A and B'), content('y', 'A')])
    expect(packet).toMatchObject({ status: 'ok', analysis: 'y', answer: 'A' })
    expect(calls[1]!['repair']).toEqual({
      problem: optionLabel.requirement,
      previous: content('x', 'both A and B'),
    })
  })

  test('is not asked for twice', async () => {
    const { packet, calls } = await runNode('a', [content('x', 'AB'), content('y', 'CD'), content('z', 'A')])
    expect(packet).toMatchObject({ status: 'contract_violation', analysis: null, answer: null })
    expect(calls.length).toBe(2)
  })

  test('that fails the format is final', async () => {
    const { packet, calls } = await runNode('a', [content('x', 'AB'), 'oh'])
    expect(packet.status).toBe('format_failure')
    expect(calls.length).toBe(2)
  })

  test('follows a tool request without any tools', async () => {
    const { packet, calls } = await runNode('a', [calculator, content('y', 'A')])
    expect(packet.status).toBe('ok')
    expect(calls[0]!.tools).toBeUndefined()
    expect(calls[1]!['repair']).toMatchObject({ problem: 'You have no tool: reply with content.' })
  })

  test('follows a request for someone else’s tool; then only content is accepted', async () => {
    const foreign = toolRequest('python_exec', { source: 'print(1)' })
    const { packet, calls, execution } = await runNode('c', [foreign, calculator])
    expect(calls[0]!.tools!.map(({ name }) => name)).toEqual(['calculator'])
    expect(calls[1]!.tools).toBeUndefined()
    expect(calls[1]!['repair']).toMatchObject({
      problem: 'You do not have the tool "python_exec": reply with content.',
    })
    expect(packet.status).toBe('contract_violation')
    expect(execution.trace.nodes[0]!.tool).toBeUndefined()
  })
})

describe('truncation', () => {
  test('gets one concise retry', async () => {
    const { packet, calls } = await runNode('a', [cutOff, content('short', 'A')])
    expect(packet.status).toBe('ok')
    expect(calls.map((call) => call['concise'])).toEqual([undefined, true])
    expect(calls[1]!['repair']).toBeUndefined()
  })

  test('gets no second retry', async () => {
    const { packet, calls } = await runNode('a', [cutOff, cutOff, content('x', 'A')])
    expect(packet).toMatchObject({ status: 'truncated', analysis: null })
    expect(calls.length).toBe(2)
  })

  test('a complete reply that ends exactly at the limit is accepted', async () => {
    const { packet, calls } = await runNode('a', [{ text: content('x', 'A'), finish: 'length' }])
    expect(packet.status).toBe('ok')
    expect(calls.length).toBe(1)
  })
})

describe('tools', () => {
  test('allow one request, then content', async () => {
    const { packet, calls, execution } = await runNode('c', [calculator, content('It is 42.', 'A')])
    expect(packet).toMatchObject({ status: 'ok', toolObservation: { tool: 'calculator', status: 'ok' } })
    expect(calls.length).toBe(2)
    expect(calls[0]!.tools!.map(({ name }) => name)).toEqual(['calculator'])
    expect(calls[1]).toMatchObject({
      tool_request: { tool: 'calculator', payload: { expression: '6*7' } },
      tool_observation: packet.toolObservation,
    })
    expect(calls[1]!.tools).toBeUndefined()
    expect(JSON.stringify(packet.toolObservation)).toContain('42')
    expect(execution.trace.nodes[0]!.tool).toMatchObject({ tool: 'calculator' })
  })

  test('report a bad payload to the model as a tool error', async () => {
    const { packet, calls } = await runNode('c', [toolRequest('calculator', { code: 1 }), content('x', 'A')])
    expect(calls[1]!['tool_observation']).toMatchObject({ status: 'error', reason: 'bad_payload' })
    expect(packet.status).toBe('ok')
  })

  test('report an excessively nested payload the same way', async () => {
    const deep = `{"kind":"tool_request","tool_request":{"tool":"calculator","payload":${'{"a":'.repeat(500)}1${'}'.repeat(500)}}}`
    const { calls } = await runNode('c', [deep, content('x', 'A')])
    expect(calls[1]!['tool_observation']).toMatchObject({ status: 'error', reason: 'bad_payload' })
  })

  test('refuse a second request, with one repair', async () => {
    const { packet, calls } = await runNode('c', [calculator, calculator, content('x', 'A')])
    expect(packet.status).toBe('ok')
    expect(calls.length).toBe(3)
    expect(calls[2]).toMatchObject({
      tool_observation: packet.toolObservation,
      repair: { problem: 'You have used your one tool: reply with content.' },
    })
  })

  test('are absent when the profile disables them or the machine lacks them', async () => {
    expect((await runNode('c', [content('x', 'A')], { tools: new Map() })).calls[0]!.tools).toBeUndefined()
    // The table reader is permitted and present, but the profile does not enable it.
    const { calls } = await runNode('c', [
      toolRequest('table_reader', { operation: 'list' }),
      content('x', 'A'),
    ])
    expect(calls[1]).toHaveProperty('repair')
  })

  test('four calls are the maximum: tool, concise retry and repair together', async () => {
    const { packet, calls } = await runNode('c', [
      cutOff,
      calculator,
      content('x', 'AB'),
      calculator,
      content('x', 'A'),
    ])
    expect(calls.length).toBe(4)
    expect(packet).toMatchObject({ status: 'contract_violation', toolObservation: { status: 'ok' } })
    expect(calls[3]).toMatchObject({ concise: true, repair: {}, tool_request: {}, tool_observation: {} })
  })

  test('an observation stays within its budget', async () => {
    const shout = {
      ...tools.tools.get('calculator')!,
      run: async () => ({ status: 'ok', result: { stdout: '😀'.repeat(100_000), exit: 0 } }) as const,
    }
    const box = { tools: new Map([['calculator', shout]]) }
    const { packet, calls } = await runNode('c', [calculator, content('x', 'A')], box, {
      budgets: { observation: 500 },
    })
    const seen = calls[1]!['tool_observation'] as { result: { stdout: string; exit: number } }
    expect([...JSON.stringify(seen)].length).toBeLessThanOrEqual(500)
    expect(seen.result.exit).toBe(0)
    expect(seen.result.stdout).toMatch(/^(?:😀)+ … \[cut: \d+ more characters\]$/u)
    expect(packet.toolObservation).toEqual(seen)
  })

  test('a tool that never ends gives an observation too', async () => {
    const stuck = { ...tools.tools.get('calculator')!, run: () => new Promise<never>(() => {}) }
    const box = { tools: new Map([['calculator', stuck]]) }
    const { packet, calls } = await runNode('c', [calculator, content('x', 'A')], box, { toolSeconds: 0.01 })
    expect(calls[1]!['tool_observation']).toMatchObject({ status: 'error', reason: 'unavailable' })
    expect(packet.status).toBe('ok')
  })
})

test('a failed node still passes on its tool’s findings', async () => {
  const { model } = await runNode('c', [calculator, 'oh'])
  expect(model.askedOf('finalizer')[0]!.message.predecessors).toMatchObject([
    { status: 'format_failure', analysis: null, answer: null, tool_observation: { status: 'ok' } },
  ])
})

test('a failed call fails its node, without quoting the server', async () => {
  const tooLong = failed('rejected', 'HTTP 413: too long')
  const { packet, model, execution } = await runNode('a', Array(8).fill(tooLong))
  expect(packet).toMatchObject({ status: 'model_failure', reason: 'rejected: HTTP 413: too long' })
  expect(model.askedOf('finalizer')[0]!.raw.user).not.toContain('413')
  expect(execution.status).toBe('answered')
})

describe('the finalizer and the direct path get one call', () => {
  const unit = { role: 'a', realization: 'atomic', predecessors: [] } as const
  const graphs = { finalizer: AgentGraph.of([unit]), direct: AgentGraph.empty }

  test.each(
    (['finalizer', 'direct'] as const).flatMap((part) => [
      { part, reply: cutOff, status: 'truncated' },
      { part, reply: final('x', 'AB'), status: 'contract_violation' },
      { part, reply: calculator, status: 'format_failure' },
      { part, reply: content('x', 'A'), status: 'format_failure' },
      { part, reply: final('x', null), status: 'null_answer' },
      { part, reply: 'FINAL: A', status: 'format_failure' },
      { part, reply: failed('rejected'), status: 'model_failure' },
    ]),
  )('$part: $status', async ({ part, reply, status }) => {
    const model = new ScriptedModel(({ executor }) => (executor.part === part ? reply : content('x', 'A')))
    const execution = await executeGraph({
      graph: graphs[part],
      task,
      library: tinyLibrary,
      profile: tinyProfile,
      contract: optionLabel,
      model,
      tools,
    })
    expect(execution.packets.at(-1)!.node).toBe(part)
    expect(execution.trace.nodes.at(-1)!.calls.length).toBe(1)
    expect(execution.packets.at(-1)!.status).toBe(status)
    expect(execution.status).toBe('unanswered')
    expect(execution.answer).toBeUndefined()
    expect(execution.final).toBeUndefined()
  })
})
