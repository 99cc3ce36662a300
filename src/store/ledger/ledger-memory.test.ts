import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { failed, fitting, ScriptedModel, toolRequest } from '../../../test/scripted-model.ts'
import { tinyExecution } from '../../../test/tiny-library.ts'
import { executeGraph } from '../../execution/execute-graph.ts'
import type { Execution } from '../../execution/execution.ts'
import type { Memory } from '../../execution/once.ts'
import { rememberTools } from '../../execution/remembered-tools.ts'
import { openToolbox } from '../../execution/toolbox.ts'
import type { Tool } from '../../execution/tools/tool.ts'
import { AgentGraph, type Unit } from '../../graph/agent-graph.ts'
import { matched } from '../../library/score.ts'
import type { Call } from '../../models/retry.ts'
import { addUsage, noUsage } from '../../models/usage.ts'
import { evaluationOf, isSettled } from './evaluation.ts'
import { memoryIn } from './ledger-memory.ts'
import { SqliteLedger } from './sqlite.ts'

const units: Unit[] = [
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'b', realization: 'group', predecessors: [0] },
]
const prefix = AgentGraph.of(units.slice(0, 1))
const whole = AgentGraph.of(units)

function run(graph: AgentGraph, model: ScriptedModel, replies?: Memory<Call>): Promise<Execution> {
  return executeGraph(tinyExecution(graph, model, { replies }))
}

const answering = () => new ScriptedModel((heard) => fitting(heard, 'x', heard.executor.id))

describe('replies from the ledger', () => {
  test('parts shared by graphs are paid for once and counted separately', async () => {
    const ledger = await SqliteLedger.open(':memory:')
    const told: string[] = []
    const { replies } = memoryIn(ledger, (digest) => told.push(digest))
    const model = answering()
    const first = await run(prefix, model, replies)
    const second = await run(whole, model, replies)
    const made = addUsage(first.usage, second.usage)
    expect(second.reused).toMatchObject({ calls: 1, input: 10, cachedInput: 4, output: 5 })
    expect(model.heard).toHaveLength(made.calls)
    expect(await ledger.size()).toMatchObject({ replies: made.calls })
    expect(new Set(told).size).toBe(made.calls)

    // A new process knows them too.
    const again = await run(whole, model, memoryIn(ledger).replies)
    expect(again).toMatchObject({ answer: second.answer, usage: noUsage, reused: { calls: 6 } })
  })

  test('a transport failure is kept neither as a reply nor as an evaluation', async () => {
    const ledger = await SqliteLedger.open(':memory:')
    const { replies } = memoryIn(ledger)
    const broken = new ScriptedModel((heard) =>
      heard.executor.id === 'a' ? failed('server_error') : fitting(heard, 'x', 'y'),
    )
    const execution = await run(prefix, broken, replies)
    expect(execution.status).toBe('answered')
    expect(await ledger.size()).toMatchObject({ replies: 1 })
    expect(isSettled(execution.trace)).toBe(false)
    const key = { graph: 'g', task: 't', dataVersion: 'd', executor: 'e' }
    const evaluation = evaluationOf(execution, matched(true))
    await expect(ledger.keep(key, evaluation, execution.trace)).rejects.toThrow(/no result to store/)
    expect(isSettled((await run(prefix, answering(), replies)).trace)).toBe(true)
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
  ] as const)('a node that got %s: %s', async ([kind, settled]) => {
    const model = new ScriptedModel((heard) =>
      heard.executor.id === 'a' ? failed(kind) : fitting(heard, 'x', 'y'),
    )
    expect(isSettled((await run(prefix, model)).trace)).toBe(settled)
  })

  test('a wrong model output is a result', async () => {
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

describe('observations from the ledger', () => {
  /** Gives a different result every time. */
  const dice: Tool = {
    name: 'calculator',
    description: 'throws dice',
    payload: z.object({}),
    run: async () => ({ status: 'ok', result: { thrown: randomUUID() } }),
  }

  /** One process of a run: opens the ledger, executes the graph, and ends. */
  async function process(folder: string, isRemembering: boolean) {
    const ledger = await SqliteLedger.open(join(folder, 'ledger.sqlite'))
    const { replies, observations } = memoryIn(ledger)
    const model = new ScriptedModel((heard) =>
      heard.message.tools === undefined
        ? fitting(heard, 'x', JSON.stringify(heard.message))
        : toolRequest('calculator', {}),
    )
    const plain = openToolbox(undefined, [dice])
    const graph = AgentGraph.of([{ role: 'c', realization: 'atomic', predecessors: [] }])
    const tools = isRemembering ? rememberTools(plain, observations) : plain
    const { answer, usage, reused } = await executeGraph(tinyExecution(graph, model, { replies, tools }))
    await ledger.close()
    return { answer, made: usage.calls, reused: reused.calls }
  }

  test.for([true, false])('a resumed run repeats its observations: %s', async (isRemembering) => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-memory-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const first = await process(folder, isRemembering)
    const second = await process(folder, isRemembering)
    expect(first).toMatchObject({ made: 3, reused: 0 })
    expect(second).toMatchObject(isRemembering ? { made: 0, reused: 3 } : { made: 2, reused: 1 })
    expect(second.answer === first.answer).toBe(isRemembering)
  })
})
