import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGraph } from '../../test/arbitrary-graph.ts'
import { ManualClock, settled } from '../../test/manual-clock.ts'
import {
  failed,
  fitting,
  type Heard,
  isControl,
  type Scripted,
  ScriptedModel,
} from '../../test/scripted-model.ts'
import { tinyExecution, tinyLibrary } from '../../test/tiny-library.ts'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { expandedCounts } from '../graph/expansion.ts'
import { freeText } from '../library/answer-contract.ts'
import { CallLimit } from '../models/call-limit.ts'
import type { ChatReply } from '../models/chat-model.ts'
import { addUsage, noUsage, usageOfCall } from '../models/usage.ts'
import { executionSettings } from '../settings/execution.ts'
import { executeGraph } from './execute-graph.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import type { ExecutionEvent } from './trace/events.ts'

const task = { id: 't', question: 'What is it?', metadata: {} }

function options(graph: AgentGraph, model: ScriptedModel, more: Partial<ExecutionOptions> = {}) {
  return tinyExecution(graph, model, { task, limit: new CallLimit(1000), ...more })
}

function unit(role: string, predecessors: number[] = [], realization: Unit['realization'] = 'atomic'): Unit {
  return { role, realization, predecessors }
}

const says = (heard: Heard) => fitting(heard, `${heard.executor.id} thought.`, heard.executor.id)
const heardBy = (model: ScriptedModel, executor: string) =>
  model.askedOf(executor).map(({ message }) => message.predecessors?.map(({ answer }) => answer).sort())

describe('routing', () => {
  // Group c hears a and b; the last unit, the atomic a, hears b and the group.
  const graph = AgentGraph.of([
    unit('a'),
    unit('b', [], 'group'),
    unit('c', [0, 1], 'group'),
    unit('a', [1, 2]),
    unit('b', [0]),
  ])

  test('workers hear all external predecessors, aggregators their workers, the finalizer all sinks', async () => {
    const model = new ScriptedModel(says)
    const execution = await executeGraph(options(graph, model))
    expect(execution.answer).toBe('finalizer')
    expect(heardBy(model, 'b_1')).toEqual([[]])
    expect(heardBy(model, 'b_all')).toEqual([['b_1', 'b_2', 'b_3']])
    for (const worker of ['c_1', 'c_2', 'c_3']) expect(heardBy(model, worker)).toEqual([['a', 'b_all']])
    expect(heardBy(model, 'c_all')).toEqual([['c_1', 'c_2', 'c_3']])
    expect(heardBy(model, 'a')).toEqual([[], ['b_all', 'c_all']])
    expect(heardBy(model, 'finalizer')).toEqual([['a', 'b']])
    expect(model.heard.length).toBe(expandedCounts(graph).nodes + 1)
  })

  test('a message carries role, granularity and status; a worker uses its own name', async () => {
    const model = new ScriptedModel(says)
    await executeGraph(options(graph, model))
    const [last] = model.askedOf('a').slice(-1)
    expect(last!.message.predecessors).toMatchObject([
      { id: expect.stringMatching(/^b-[0-9a-f]{8}$/), role: 'b', granularity: 'group', status: 'ok' },
      { id: expect.stringMatching(/^c-[0-9a-f]{8}$/), role: 'c', granularity: 'group', status: 'ok' },
    ])
    const [aggregator] = model.askedOf('c_all')
    expect(aggregator!.message.predecessors!.map(({ id }) => id.replace(/-.*/, ''))).toEqual([
      'c_1',
      'c_2',
      'c_3',
    ])
    expect(aggregator!.message.predecessors).toMatchObject(
      Array(3).fill({ role: 'c', granularity: 'worker' }),
    )
    // It is told what its group is for.
    expect(aggregator!.raw.system).toContain('The role c.')
  })

  test('in any graph, every node hears exactly its predecessors', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryGraph({ maxUnits: 6, roles: ['a', 'b', 'c'] }), async (graph) => {
        const events: ExecutionEvent[] = []
        const ended: string[] = []
        const model = new ScriptedModel(says)
        await executeGraph(
          options(graph, model, {
            onEvent: (event) => {
              events.push(event)
              if (event.type === 'node-end') ended.push(event.node)
              if (event.type === 'node-start') {
                const start = events[0] as Extract<ExecutionEvent, { type: 'execution-start' }>
                const { predecessors } = start.nodes.find(({ node }) => node === event.node)!
                expect(predecessors.filter((node) => !ended.includes(node))).toEqual([])
              }
            },
          }),
        )
        const { nodes, edges } = expandedCounts(graph)
        expect(ended.length).toBe(nodes + 1)
        const messages = model.heard.flatMap(({ message }) => message.predecessors ?? [])
        expect(messages.length).toBe(edges + graph.sinks.length)
      }),
      { numRuns: 60 },
    )
  })
})

test('the empty graph is a single call with question and requirement', async () => {
  const model = new ScriptedModel(says)
  const execution = await executeGraph(options(AgentGraph.empty, model))
  expect(execution).toMatchObject({ status: 'answered', answer: 'direct', final: 'FINAL: direct' })
  expect(model.heard.length).toBe(1)
  const { raw, message } = model.heard[0]!
  expect(raw.system).toMatch(/^Answer\.\n\n/)
  expect(Object.keys(message)).toEqual(['protocol', 'executor', 'task', 'answer_requirement'])
})

test('a graph that does not match the library is refused', async () => {
  const model = new ScriptedModel(says)
  await expect(executeGraph(options(AgentGraph.of([unit('boss')]), model))).rejects.toThrow("no role 'boss'")
  const library = { ...tinyLibrary, roles: tinyLibrary.roles.map(({ group, ...role }) => role) }
  const graph = AgentGraph.of([unit('a', [], 'group')])
  await expect(executeGraph({ ...options(graph, model), library })).rejects.toThrow(
    "The role 'a' has no group realization in this library: use its atomic one.",
  )
  expect(model.heard).toEqual([])
})

describe('failures', () => {
  const graph = AgentGraph.of([unit('a'), unit('b', [], 'group'), unit('c', [0, 1])])

  test('stay with their node: the others continue and are told', async () => {
    const model = new ScriptedModel((heard) =>
      ['a', 'b_2'].includes(heard.executor.id) ? failed('server_error') : says(heard),
    )
    const execution = await executeGraph(options(graph, model))
    expect(execution.status).toBe('answered')
    expect(execution.failures.map(({ node, status }) => [node, status])).toEqual([
      ['u0', 'model_failure'],
      ['u1.w1', 'model_failure'],
    ])
    expect(model.askedOf('c')[0]!.message.predecessors).toMatchObject([
      { role: 'a', status: 'model_failure', analysis: null, answer: null },
      { role: 'b', status: 'ok', answer: 'b_all' },
    ])
  })

  test('of every node leave the finalizer alone with the question', async () => {
    const model = new ScriptedModel((heard) => (heard.executor.part === 'finalizer' ? says(heard) : 'no'))
    const execution = await executeGraph(options(graph, model))
    expect(execution.answer).toBe('finalizer')
    expect(execution.failures.length).toBe(6)
  })

  test('that no retry can fix stop the execution', async () => {
    const model = new ScriptedModel(async (heard) => {
      if (heard.executor.id === 'b_1') return failed('unauthorized', 'HTTP 401: invalid key')
      await settled()
      return says(heard)
    })
    const execution = await executeGraph(options(graph, model))
    expect(execution).toMatchObject({
      status: 'stopped',
      stop: { kind: 'unauthorized' },
      trace: { stop: 'unauthorized: HTTP 401: invalid key' },
    })
    // Only those in flight at the time.
    expect(model.heard.length).toBe(4)
    expect(execution.packets.map(({ status }) => status)).toEqual([
      'aborted',
      'model_failure',
      ...Array(5).fill('aborted'),
    ])
  })

  test('in our code are thrown once everything has ended', async () => {
    const limit = new CallLimit(1000)
    const model = new ScriptedModel((heard) => {
      if (heard.executor.id === 'b_1') throw new TypeError('a bug in a client')
      return says(heard)
    })
    await expect(executeGraph(options(graph, model, { limit }))).rejects.toThrow('a bug in a client')
    expect(limit.inFlight).toBe(0)
  })

  test('of a listener change nothing', async () => {
    let told = 0
    const warned = new Promise<string>((resolve) =>
      process.on('warning', function listen({ message }: Error) {
        if (!message.includes('a bug in a view')) return
        process.off('warning', listen)
        resolve(message)
      }),
    )
    const execution = await executeGraph(
      options(graph, new ScriptedModel(says), {
        onEvent: () => {
          told += 1
          throw new Error('a bug in a view')
        },
      }),
    )
    expect(execution.status).toBe('answered')
    expect(told).toBe(1)
    await warned
  })
})

describe('stopping early', () => {
  const graph = AgentGraph.of([unit('a'), unit('b', [0])])
  /** Waits for its signal, or forever. */
  const silent = (heeds: boolean) =>
    new ScriptedModel(
      (_, signal) =>
        new Promise<Scripted>((resolve) => {
          if (heeds) signal?.addEventListener('abort', () => resolve(failed('cancelled')))
        }),
    )

  test.each([true, false])('by the caller, with a model that heeds its signal: %s', async (heeds) => {
    const abort = new AbortController()
    const limit = new CallLimit(1)
    const model = silent(heeds)
    const running = executeGraph(options(graph, model, { signal: abort.signal, limit }))
    await settled()
    abort.abort()
    const execution = await running
    expect(execution.status).toBe('aborted')
    expect(execution.packets.map(({ status }) => status)).toEqual(['aborted', 'aborted', 'aborted'])
    expect(execution.usage).toMatchObject({ calls: 1, attempts: 1, failedAttempts: 1, unknown: 1 })
    expect(limit.inFlight).toBe(0)
  })

  test('before the start makes no call', async () => {
    const model = silent(true)
    const execution = await executeGraph(options(graph, model, { signal: AbortSignal.abort() }))
    expect(execution).toMatchObject({ status: 'aborted', usage: noUsage })
    expect(model.heard).toEqual([])
  })

  test('while waiting for a slot makes no call', async () => {
    const limit = new CallLimit(1)
    const release = await limit.acquire()
    const abort = new AbortController()
    const model = silent(true)
    const running = executeGraph(options(graph, model, { signal: abort.signal, limit }))
    await settled()
    abort.abort()
    expect(await running).toMatchObject({ status: 'aborted', usage: noUsage })
    expect(model.heard).toEqual([])
    release!()
  })

  test('by the execution time limit', async () => {
    const clock = new ManualClock()
    const settings = executionSettings.parse({ executionSeconds: 60 })
    const running = executeGraph(options(graph, silent(false), { clock, settings }))
    await settled()
    await clock.advance(59_999)
    expect(clock.pending).toBeGreaterThan(0)
    await clock.advance(1)
    const execution = await running
    expect(execution.status).toBe('timed_out')
    expect(clock.pending).toBe(0)
  })

  test('leaves no timer behind when the limit was not reached', async () => {
    const clock = new ManualClock()
    const settings = executionSettings.parse({ executionSeconds: 60 })
    const execution = await executeGraph(options(graph, new ScriptedModel(says), { clock, settings }))
    expect(execution.status).toBe('answered')
    expect(clock.pending).toBe(0)
  })

  test('of an attempt counts as a failure and is retried', async () => {
    const clock = new ManualClock()
    let silentOnes = 4
    const model = new ScriptedModel((heard) => {
      if (heard.executor.id === 'a' && silentOnes > 0) {
        silentOnes -= 1
        return new Promise<Scripted>(() => {})
      }
      return says(heard)
    })
    const settings = executionSettings.parse({ attemptSeconds: 10 })
    const running = executeGraph(options(graph, model, { clock, settings }))
    await settled()
    for (const wait of [1000, 2000, 4000, 0]) {
      await clock.advance(10_000)
      await clock.advance(wait)
    }
    const execution = await running
    expect(execution.status).toBe('answered')
    expect(execution.packets[0]).toMatchObject({
      status: 'model_failure',
      reason: 'timeout: No complete answer within 10 s.',
    })
    expect(execution.trace.nodes[0]!.calls[0]!.attempts).toMatchObject(Array(4).fill({ kind: 'timeout' }))
    expect(execution.usage).toMatchObject({ calls: 3, attempts: 6, failedAttempts: 4, unknown: 4 })
  })
})

describe('scheduling', () => {
  test('independent nodes run at once', async () => {
    const model = new ScriptedModel(async (heard) => {
      await settled()
      return says(heard)
    })
    const graph = AgentGraph.of([unit('a'), unit('b'), unit('c', [], 'group'), unit('a', [0])])
    await executeGraph(options(graph, model))
    expect(model.mostInFlight).toBe(5)
  })

  test('the call limit holds across executions that share it', async () => {
    const limit = new CallLimit(3)
    const model = new ScriptedModel(async (heard) => {
      await settled()
      return says(heard)
    })
    const graph = AgentGraph.of([unit('a', [], 'group'), unit('b', [], 'group')])
    const executions = await Promise.all(
      Array.from({ length: 6 }, () => executeGraph(options(graph, model, { limit }))),
    )
    expect(executions.every(({ status }) => status === 'answered')).toBe(true)
    expect(model.mostInFlight).toBe(3)
    expect([limit.inFlight, limit.waiting]).toEqual([0, 0])
  })

  test('with one slot, the longest remaining path goes first', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryGraph({ maxUnits: 6 }), async (graph) => {
        const events: ExecutionEvent[] = []
        await executeGraph(
          options(graph, new ScriptedModel(says), {
            limit: new CallLimit(1),
            onEvent: (event) => events.push(event),
          }),
        )
        const [start] = events as [Extract<ExecutionEvent, { type: 'execution-start' }>]
        const remaining = (node: string): number =>
          1 +
          Math.max(
            0,
            ...start.nodes.filter((n) => n.predecessors.includes(node)).map((n) => remaining(n.node)),
          )
        const order = events.flatMap((event) => (event.type === 'call-end' ? [event.node] : []))
        for (const [index, node] of order.entries()) {
          const ready = start.nodes.filter(
            (n) =>
              order.indexOf(n.node) >= index &&
              n.predecessors.every((p) => order.slice(0, index).includes(p)),
          )
          expect(remaining(node)).toBe(Math.max(...ready.map((n) => remaining(n.node))))
        }
      }),
      { numRuns: 80 },
    )
  })
})

describe('accounting', () => {
  const anyReply = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Scripted>('content') },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Scripted>(
        ...(['network', 'timeout', 'bad_response', 'rate_limited', 'server_error', 'rejected'] as const).map(
          (kind) => failed(kind),
        ),
      ),
    },
    fc.constantFrom<Scripted>(
      'gibberish',
      '{"kind":"content","content":{"analysis":"x","answer":""}}',
      { text: '{"kind', finish: 'length' },
      '{"kind":"tool_request","tool_request":{"tool":"calculator","payload":{}}}',
    ),
  )
  const anyUsage = fc.option(
    fc.record({ input: fc.nat(1000), cachedInput: fc.constant(0), output: fc.nat(1000) }),
    { nil: undefined },
  )

  test('usage and cost are summed over all attempts, including failed ones', async () => {
    const price = { currency: 'CNY', asOf: '2026-11', source: 'test', input: 1, cachedInput: 0.5, output: 2 }
    await fc.assert(
      fc.asyncProperty(
        arbitraryGraph({ maxUnits: 4, roles: ['a', 'c'] }),
        fc.infiniteStream(fc.tuple(anyReply, anyUsage)),
        async (graph, script) => {
          const attempts: ChatReply[] = []
          const model = new ScriptedModel((heard) => {
            const [reply, usage] = script.next().value
            const text = reply === 'content' ? says(heard) : reply
            const told = usage === undefined ? {} : { usage }
            if (typeof text !== 'string') return { ...text, ...told } as Scripted
            return { text, ...(usage === undefined ? { usage: undefined as never } : told) }
          })
          const ask = model.ask.bind(model)
          model.ask = async (request, signal) => {
            const reply = await ask(request, signal)
            if (!isControl(request)) attempts.push(reply)
            return reply
          }
          const settings = executionSettings.parse({ prices: { 'scripted/m': price } })
          const execution = await executeGraph(options(graph, model, { settings }))
          const { calls, ...sums } = addUsage(...attempts.map((reply) => usageOfCall([{ reply }])))
          expect(execution.usage).toMatchObject({ ...sums })
          expect(calls).toBe(attempts.length)
          const { nodes } = execution.trace
          expect(execution.usage.calls).toBe(nodes.flatMap((node) => node.calls).length)
          expect(nodes.flatMap((node) => node.calls.flatMap((call) => call.attempts)).length).toBe(
            attempts.length,
          )
          const { amount } = execution.cost as { amount: number }
          const { input, cachedInput, output } = sums
          expect(amount).toBeCloseTo((input - cachedInput + cachedInput * 0.5 + output * 2) / 1e6, 12)
          expect(execution.reused).toEqual(noUsage)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('without a price the cost is unpriced, not zero', async () => {
    const execution = await executeGraph(options(AgentGraph.empty, new ScriptedModel(says)))
    expect(execution.cost).toBe('unpriced')
  })
})

test('control calls for rejected nodes send the same graph’s requests about another question', async () => {
  const graph = AgentGraph.of([unit('a'), unit('b', [0])])
  const other = { id: 'o', question: 'What else is it?', metadata: {} }
  const asked = async (more: Partial<ExecutionOptions>) => {
    // The real question fails in every node, and the messages say so.
    const model = new ScriptedModel(({ message }) =>
      failed(JSON.stringify(message['task']).includes('else') ? 'not_recorded' : 'rejected'),
    )
    const ask = model.ask.bind(model)
    const users: string[] = []
    model.ask = (request, signal) => {
      if (request.user.includes('What else')) users.push(request.user)
      return ask(request, signal)
    }
    await executeGraph(options(graph, model, more))
    return new Set(users)
  }
  const controls = await asked({ others: [{ task: other, contract: freeText }] })
  expect(controls.size).toBe(expandedCounts(graph).nodes + 1)
  expect(controls).toEqual(await asked({ task: other }))
})

describe('events', () => {
  test('cover every node, call and tool, and the end', async () => {
    const events: ExecutionEvent[] = []
    const execution = await executeGraph(
      options(AgentGraph.of([unit('a'), unit('b', [0])]), new ScriptedModel(says), {
        id: 'e1',
        onEvent: (event) => events.push(event),
      }),
    )
    expect(execution.id).toBe('e1')
    expect(events.every((event) => event.execution === 'e1')).toBe(true)
    expect(events.map((event) => [event.type, 'node' in event ? event.node : ''].join(' ').trim())).toEqual([
      'execution-start',
      'node-start u0',
      'call-end u0',
      'node-end u0',
      'node-start u1',
      'call-end u1',
      'node-end u1',
      'node-start finalizer',
      'call-end finalizer',
      'node-end finalizer',
      'execution-end',
    ])
    expect(events.at(-1)).toMatchObject({ status: 'answered', answer: 'finalizer', usage: { calls: 3 } })
  })
})

describe('references', () => {
  const reference = { kind: 'choice', label: 'CANARY' } as const

  test('are not accepted by the types', () => {
    const model = new ScriptedModel(says)
    const refused = () => {
      // @ts-expect-error a reference is not a task
      void executeGraph({ ...options(AgentGraph.empty, model), task: reference })
      // @ts-expect-error there is no option for a reference
      void executeGraph({ ...options(AgentGraph.empty, model), reference })
      // @ts-expect-error a task has no reference
      void executeGraph({ ...options(AgentGraph.empty, model), task: { ...task, reference } })
      // @ts-expect-error a task has no hidden tests
      void executeGraph({ ...options(AgentGraph.empty, model), task: { ...task, privateTests: '' } })
    }
    expect(refused).toBeTypeOf('function')
  })

  test('smuggled in reach neither request, tool nor trace', async () => {
    const smuggled = { ...task, reference, privateTests: 'CANARY', metadata: { gold: 'CANARY' } }
    const seen: unknown[] = []
    const model = new ScriptedModel((heard) =>
      heard.executor.id === 'c' && heard.message['tool_request'] === undefined
        ? '{"kind":"tool_request","tool_request":{"tool":"calculator","payload":{}}}'
        : says(heard),
    )
    const spy = {
      name: 'calculator',
      description: 'calculator',
      payload: (await import('zod')).z.object({}),
      run: async (_: unknown, context: object) => {
        seen.push(context)
        return { status: 'ok', result: {} } as const
      },
    }
    const execution: Execution = await executeGraph(
      options(AgentGraph.of([unit('c')]), model, {
        task: smuggled,
        tools: { tools: new Map([['calculator', spy]]) },
      }),
    )
    expect(execution.status).toBe('answered')
    expect(seen.length).toBe(1)
    const everything = JSON.stringify([model.heard.map(({ raw }) => raw), seen, execution])
    expect(everything).not.toContain('CANARY')
  })
})
