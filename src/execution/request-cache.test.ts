import { describe, expect, test } from 'vitest'
import { settled } from '../../test/manual-clock.ts'
import { failed, fitting, type Scripted, ScriptedModel } from '../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../test/tiny-library.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { freeText } from '../library/answer-contract.ts'
import type { ChatAnswer } from '../models/chat-model.ts'
import { noUsage } from '../models/usage.ts'
import { executionSettings } from '../settings/execution.ts'
import { executeGraph } from './execute-graph.ts'
import type { ExecutionOptions } from './execution.ts'
import type { RequestCache } from './request-cache.ts'

class MemoryCache implements RequestCache {
  readonly answers = new Map<string, ChatAnswer>()
  get(digest: string): ChatAnswer | undefined {
    return this.answers.get(digest)
  }
  async set(digest: string, answer: ChatAnswer): Promise<void> {
    await settled()
    this.answers.set(digest, answer)
  }
}

const chain = AgentGraph.of([
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'b', realization: 'atomic', predecessors: [0] },
])

function run(
  graph: AgentGraph,
  model: ScriptedModel,
  cache: RequestCache,
  more: Partial<ExecutionOptions> = {},
) {
  return executeGraph({
    graph,
    task: { id: 't', question: 'What?', metadata: {} },
    library: tinyLibrary,
    profile: tinyProfile,
    contract: freeText,
    model,
    cache,
    clock: { now: () => 0, sleep: async () => {} },
    ...more,
  })
}

const answering = () => new ScriptedModel((heard) => fitting(heard, 'x', heard.executor.id))

describe('an answer that is known', () => {
  test('is used again, and counted apart', async () => {
    const cache = new MemoryCache()
    const model = answering()
    const first = await run(chain, model, cache)
    const again = await run(chain, model, cache)
    expect(first).toMatchObject({ usage: { calls: 3, input: 30 }, reused: noUsage })
    expect(again).toMatchObject({
      answer: first.answer,
      usage: noUsage,
      reused: { calls: 3, input: 30, output: 15 },
    })
    expect(again.trace.nodes.map(({ calls }) => calls[0]!.reused)).toEqual([true, true, true])
    expect(model.heard.length).toBe(3)
  })

  test('serves the common part of another graph', async () => {
    const cache = new MemoryCache()
    const model = answering()
    await run(chain, model, cache)
    const longer = chain.add({ role: 'c', realization: 'atomic', predecessors: [1] })
    expect(await run(longer, model, cache)).toMatchObject({ usage: { calls: 2 }, reused: { calls: 2 } })
  })

  test('is not used above temperature 0', async () => {
    const cache = new MemoryCache()
    const settings = executionSettings.parse({ decoding: { temperature: 0.7 } })
    const model = answering()
    for (let time = 0; time < 2; time += 1)
      expect(await run(chain, model, cache, { settings })).toMatchObject({ usage: { calls: 3 } })
    expect(cache.answers.size).toBe(0)
  })
})

describe('identical requests at the same time', () => {
  const twins = AgentGraph.of([1, 2, 3].map(() => ({ role: 'a', realization: 'atomic', predecessors: [] })))

  test('are one call', async () => {
    const model = new ScriptedModel(async (heard) => {
      await settled()
      return fitting(heard, 'x', 'y')
    })
    const cache = new MemoryCache()
    const executions = await Promise.all([run(twins, model, cache), run(twins, model, cache)])
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
    const cache = new MemoryCache()
    const execution = await run(twins, model, cache)
    expect(execution.failures.length).toBe(3)
    expect(execution.usage).toMatchObject({ calls: 2, failedAttempts: 4 })
    broken = false
    expect((await run(twins, model, cache)).failures).toEqual([])
  })

  test('of which the one that was made is cancelled: another takes its place', async () => {
    let asked = 0
    const model = new ScriptedModel((heard, signal) => {
      asked += 1
      if (asked > 1) return fitting(heard, 'x', 'y')
      return new Promise<Scripted>((resolve) =>
        signal!.addEventListener('abort', () => resolve(failed('cancelled'))),
      )
    })
    const cache = new MemoryCache()
    const abort = new AbortController()
    const leader = run(AgentGraph.empty, model, cache, { signal: abort.signal })
    await settled()
    const follower = run(AgentGraph.empty, model, cache)
    await settled()
    abort.abort()
    expect((await leader).status).toBe('aborted')
    expect(await follower).toMatchObject({ status: 'answered', usage: { calls: 1 } })
  })

  test('of which one that waits is cancelled: it ends at once', async () => {
    let finish: (said: Scripted) => void = () => {}
    const model = new ScriptedModel(() => new Promise<Scripted>((resolve) => (finish = resolve)))
    const cache = new MemoryCache()
    const leader = run(AgentGraph.empty, model, cache)
    await settled()
    const abort = new AbortController()
    const follower = run(AgentGraph.empty, model, cache, { signal: abort.signal })
    await settled()
    abort.abort()
    expect(await follower).toMatchObject({ status: 'aborted', usage: noUsage })
    finish('{"analysis":"x","answer":"y"}')
    expect((await leader).status).toBe('answered')
    expect(model.heard.length).toBe(1)
  })
})
