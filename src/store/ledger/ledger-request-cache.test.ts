import { describe, expect, test } from 'vitest'
import { failed, fitting, ScriptedModel } from '../../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../../test/tiny-library.ts'
import { executeGraph } from '../../execution/execute-graph.ts'
import type { Execution } from '../../execution/execution.ts'
import { AgentGraph, type Unit } from '../../graph/agent-graph.ts'
import { freeText } from '../../library/answer-contract.ts'
import { matched } from '../../library/score.ts'
import { addUsage, noUsage } from '../../models/usage.ts'
import { evaluationOf, isSettled } from './evaluation.ts'
import { LedgerRequestCache } from './ledger-request-cache.ts'
import { MemoryLedger } from './memory.ts'

const units: Unit[] = [
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'b', realization: 'group', predecessors: [0] },
]
const prefix = AgentGraph.of(units.slice(0, 1))
const whole = AgentGraph.of(units)

function run(graph: AgentGraph, model: ScriptedModel, cache?: LedgerRequestCache): Promise<Execution> {
  return executeGraph({
    graph,
    task: { id: 't', question: 'What?', metadata: {} },
    library: tinyLibrary,
    profile: tinyProfile,
    contract: freeText,
    model,
    ...(cache === undefined ? {} : { cache }),
    clock: { now: () => 0, sleep: async () => {} },
  })
}

const answering = () => new ScriptedModel((heard) => fitting(heard, 'x', heard.executor.id))

describe('replies from the ledger', () => {
  test('what graphs have in common is paid for once, and counted apart', async () => {
    const ledger = new MemoryLedger()
    const cache = new LedgerRequestCache(ledger)
    const model = answering()
    const first = await run(prefix, model, cache)
    const second = await run(whole, model, cache)
    const made = addUsage(first.usage, second.usage)
    expect(cache.made).toEqual({
      calls: made.calls,
      input: made.input,
      cachedInput: 4 * made.calls,
      output: made.output,
    })
    expect(cache.reused).toEqual({ calls: 1, input: 10, cachedInput: 4, output: 5 })
    expect(second.reused).toMatchObject(cache.reused)
    expect(model.heard).toHaveLength(made.calls)
    expect(await ledger.size()).toMatchObject({ replies: made.calls })

    // A new process knows them too.
    const resumed = new LedgerRequestCache(ledger)
    const again = await run(whole, model, resumed)
    expect(again.usage).toEqual(noUsage)
    expect(again.answer).toEqual(second.answer)
    expect(resumed).toMatchObject({ made: { calls: 0 }, reused: { calls: 6 } })
  })

  test('a transport failure is kept neither as a reply nor as an evaluation', async () => {
    const ledger = new MemoryLedger()
    const cache = new LedgerRequestCache(ledger)
    const broken = new ScriptedModel((heard) =>
      heard.executor.id === 'a' ? failed('server_error') : fitting(heard, 'x', 'y'),
    )
    const execution = await run(prefix, broken, cache)
    expect(execution.status).toBe('answered')
    expect(await ledger.size()).toMatchObject({ replies: 1 })
    expect(isSettled(execution.trace)).toBe(false)
    const key = { graph: 'g', task: 't', dataVersion: 'd', executor: 'e' }
    const evaluation = evaluationOf(execution, matched(true))
    await expect(ledger.keep(key, evaluation, execution.trace)).rejects.toThrow(/no result to store/)
    expect(isSettled((await run(prefix, answering(), cache)).trace)).toBe(true)
  })
})

describe('settled or not', () => {
  test.for([
    ['network', false],
    ['timeout', false],
    ['rate_limited', false],
    ['bad_response', false],
    ['unauthorized', false],
    ['rejected', true],
  ] as const)('a node that met %s: %s', async ([kind, settled]) => {
    const model = new ScriptedModel((heard) =>
      heard.executor.id === 'a' ? failed(kind) : fitting(heard, 'x', 'y'),
    )
    expect(isSettled((await run(prefix, model)).trace)).toBe(settled)
  })

  test('what a model said wrongly is a result', async () => {
    const { trace, ...execution } = await run(prefix, new ScriptedModel(() => 'not JSON'))
    expect(execution.status).toBe('unanswered')
    expect(isSettled(trace)).toBe(true)
    const evaluation = evaluationOf({ ...execution, trace }, { score: 0, parse: 'invalid' })
    expect(evaluation).not.toHaveProperty('answer')
    expect(evaluation.failures.map(({ node, status }) => [node, status])).toEqual([
      ['u0', 'format_failure'],
      ['finalizer', 'format_failure'],
    ])
  })
})
