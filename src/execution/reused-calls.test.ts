import { describe, expect, test } from 'vitest'
import { settled } from '../../test/manual-clock.ts'
import { failed, fitting, type Scripted, ScriptedModel } from '../../test/scripted-model.ts'
import { tinyExecution } from '../../test/tiny-library.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import type { Call } from '../models/retry.ts'
import { noUsage } from '../models/usage.ts'
import { executionSettings } from '../settings/execution.ts'
import { executeGraph } from './execute-graph.ts'
import type { ExecutionOptions } from './execution.ts'
import { type Memory, MemoryShelf, Once } from './once.ts'

const memory = () => {
  const shelf = new MemoryShelf<Call>()
  return { shelf, replies: new Once(shelf) }
}

const chain = AgentGraph.of([
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'b', realization: 'atomic', predecessors: [0] },
])

function run(
  graph: AgentGraph,
  model: ScriptedModel,
  replies: Memory<Call>,
  more: Partial<ExecutionOptions> = {},
) {
  return executeGraph(tinyExecution(graph, model, { replies, ...more }))
}

const answering = () => new ScriptedModel((heard) => fitting(heard, 'x', heard.executor.id))

describe('a known answer', () => {
  test('is reused and counted separately', async () => {
    const { replies } = memory()
    const model = answering()
    const first = await run(chain, model, replies)
    const again = await run(chain, model, replies)
    expect(first).toMatchObject({ usage: { calls: 3, input: 30 }, reused: noUsage })
    expect(again).toMatchObject({
      answer: first.answer,
      usage: noUsage,
      reused: { calls: 3, input: 30, output: 15 },
    })
    expect(again.trace.nodes.map(({ calls }) => calls[0]!.reused)).toEqual([true, true, true])
    expect(model.heard.length).toBe(3)
  })

  test('is reused for the shared part of another graph', async () => {
    const { replies } = memory()
    const model = answering()
    await run(chain, model, replies)
    const longer = chain.add({ role: 'c', realization: 'atomic', predecessors: [1] })
    expect(await run(longer, model, replies)).toMatchObject({ usage: { calls: 2 }, reused: { calls: 2 } })
  })

  test('is not reused above temperature 0', async () => {
    const { replies, shelf } = memory()
    const settings = executionSettings.parse({ decoding: { temperature: 0.7 } })
    const model = answering()
    for (let time = 0; time < 2; time += 1)
      expect(await run(chain, model, replies, { settings })).toMatchObject({ usage: { calls: 3 } })
    expect(shelf.size).toBe(0)
  })
})

describe('concurrent identical requests', () => {
  const twins = AgentGraph.of([1, 2, 3].map(() => ({ role: 'a', realization: 'atomic', predecessors: [] })))

  test('make one call', async () => {
    const model = new ScriptedModel(async (heard) => {
      await settled()
      return fitting(heard, 'x', 'y')
    })
    const { replies } = memory()
    const executions = await Promise.all([run(twins, model, replies), run(twins, model, replies)])
    expect(model.heard.length).toBe(2)
    const sum = (pick: 'usage' | 'reused') => executions.reduce((all, one) => all + one[pick].calls, 0)
    expect([sum('usage'), sum('reused')]).toEqual([2, 6])
  })

  test('share a failure, which is not stored', async () => {
    let broken = true
    const model = new ScriptedModel(async (heard) => {
      await settled()
      return broken && heard.executor.id === 'a' ? failed('rejected') : fitting(heard, 'x', 'y')
    })
    const { replies } = memory()
    const execution = await run(twins, model, replies)
    expect(execution.failures.length).toBe(3)
    expect(execution.usage).toMatchObject({ calls: 2, failedAttempts: 8 })
    broken = false
    expect((await run(twins, model, replies)).failures).toEqual([])
  })

  test('continue for the other when the first is cancelled, and the other pays', async () => {
    const said = Promise.withResolvers<Scripted>()
    const model = new ScriptedModel(() => said.promise)
    const { replies } = memory()
    const abort = new AbortController()
    const leader = run(AgentGraph.empty, model, replies, { signal: abort.signal })
    await settled()
    const follower = run(AgentGraph.empty, model, replies)
    await settled()
    abort.abort()
    expect(await leader).toMatchObject({ status: 'aborted', usage: noUsage })
    said.resolve('{"analysis":"x","answer":"y"}')
    expect(await follower).toMatchObject({ status: 'answered', usage: { calls: 1 } })
    expect(model.heard.length).toBe(1)
  })

  test('cancel the call when all are cancelled, and count its usage', async () => {
    let asked = 0
    const model = new ScriptedModel((_, signal) => {
      asked += 1
      if (asked === 1) return failed('server_error')
      return new Promise<Scripted>((resolve) =>
        signal!.addEventListener('abort', () => resolve(failed('cancelled'))),
      )
    })
    const { replies, shelf } = memory()
    const abort = new AbortController()
    const both = [1, 2].map(() => run(AgentGraph.empty, model, replies, { signal: abort.signal }))
    await settled()
    abort.abort()
    const executions = await Promise.all(both)
    expect(executions.map(({ status }) => status)).toEqual(['aborted', 'aborted'])
    expect(executions.reduce((sum, { usage }) => sum + usage.failedAttempts, 0)).toBe(2)
    expect(shelf.size).toBe(0)
  })

  test('end at once for a cancelled waiter', async () => {
    let finish: (said: Scripted) => void = () => {}
    const model = new ScriptedModel(() => new Promise<Scripted>((resolve) => (finish = resolve)))
    const { replies } = memory()
    const leader = run(AgentGraph.empty, model, replies)
    await settled()
    const abort = new AbortController()
    const follower = run(AgentGraph.empty, model, replies, { signal: abort.signal })
    await settled()
    abort.abort()
    expect(await follower).toMatchObject({ status: 'aborted', usage: noUsage })
    finish('{"analysis":"x","answer":"y"}')
    expect((await leader).status).toBe('answered')
    expect(model.heard.length).toBe(1)
  })
})
