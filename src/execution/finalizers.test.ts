import { describe, expect, test } from 'vitest'
import { fiveRoles, sum } from '../../test/organisations/organisation-run.ts'
import { fitting, type Heard, ScriptedModel } from '../../test/scripted-model.ts'
import { AgentGraph, type Finalizer, type Unit } from '../graph/agent-graph.ts'
import { numericString } from '../library/answer-contract.ts'
import { defineLibrary } from '../library/define-library.ts'
import { executionSettings } from '../settings/execution.ts'
import { executeGraph } from './execute-graph.ts'

const unit = (role: string, predecessors: number[] = [], marks: Partial<Unit> = {}): Unit => ({
  ...{ role, realization: 'atomic', predecessors },
  ...marks,
})
const profile = { id: 'tests', tools: [] }
const judge = (id: string) => ({ id, responsibility: `Be ${id}.`, prompt: `You are ${id}.` })
const group = { workers: [judge('one'), judge('two'), judge('three')], aggregator: judge('all') } as const
const withGroup = defineLibrary({ roles: [{ id: 'judge', description: 'It judges.', group }] })

async function run(
  units: Unit[],
  finalizer: Finalizer,
  say: (heard: Heard) => string = (heard) => fitting(heard, 'So.', String(heard.executor.role.length)),
) {
  const model = new ScriptedModel(say)
  const graph = AgentGraph.of(units, finalizer)
  const given = { graph, task: sum, library: fiveRoles, profile, contract: numericString, model }
  const execution = await executeGraph(given)
  return { execution, heard: model.heard, last: model.heard.at(-1)! }
}

describe('finalizers', () => {
  const fork = [unit('alpha'), unit('beta', [0]), unit('gamma', [0])]

  test('a summarizer hears the sinks, or all units', async () => {
    const { last } = await run(fork, 'summarizer')
    expect(last.message.predecessors!.map(({ role }) => role).sort()).toEqual(['beta', 'gamma'])
    const { last: all } = await run(fork, 'summarizer-of-all')
    expect(all.message.predecessors!.map(({ role }) => role).sort()).toEqual(['alpha', 'beta', 'gamma'])
  })

  test('"last" takes the only sink, and refuses several', async () => {
    const { execution, heard } = await run([unit('alpha'), unit('beta', [0])], 'last')
    expect(heard).toHaveLength(2)
    expect(execution).toMatchObject({ answer: '4', status: 'answered' })
    expect(execution.packets.at(-1)).toMatchObject({ part: 'finalizer', executor: 'last', node: 'finalizer' })
    await expect(run(fork, 'last')).rejects.toThrow("The finalizer 'last' needs a graph with one sink")
  })

  test('"best" is a call that picks one answer verbatim', async () => {
    const say = (choice: number) => (heard: Heard) =>
      heard.executor.part === 'finalizer'
        ? JSON.stringify({ analysis: 'That one.', choice })
        : fitting(heard, 'So.', String(heard.executor.role.length))
    const { execution, last } = await run(fork, 'best', say(2))
    const second = last.message.predecessors![1]!.answer
    expect(execution.answer).toBe(second)
    expect((await run(fork, 'best', say(3))).execution.status).toBe('unanswered')
  })

  test('a vote without votes leaves the question unanswered, which is not a failure', async () => {
    const { execution } = await run(fork, 'vote', (heard) => fitting(heard, 'I cannot say.', null))
    expect(execution).toMatchObject({ status: 'unanswered', failures: [] })
    expect(execution.usage.calls).toBe(3)
  })
})

describe('marks', () => {
  test('in later rounds, an agent is told which message is its own', async () => {
    const units = [
      unit('solver', [], { agent: 1 }),
      unit('solver', [], { agent: 2 }),
      unit('solver', [0, 1], { agent: 1 }),
    ]
    const { heard } = await run(units, 'vote')
    const [first, , third] = heard as [Heard, Heard, Heard]
    expect(first.raw.system).not.toContain('"self"')
    expect(third.raw.system).toContain('A predecessor with "self" is your own reply of an earlier round.')
    expect(third.message.predecessors!.filter((one) => one['self'] === true)).toHaveLength(1)
    expect(first.message.executor).toEqual({ id: 'solver', role: 'solver', part: 'atomic', agent: 1 })
  })

  test('a repeated group marks workers’ earlier replies, but no worker as its aggregator', async () => {
    const model = new ScriptedModel((heard) => fitting(heard, 'So.', '1'))
    const round = (agent: number, predecessors: number[] = []) =>
      unit('judge', predecessors, { realization: 'group', agent })
    const graph = AgentGraph.of([round(1), round(2), round(1, [0, 1])])
    await executeGraph({ graph, task: sum, library: withGroup, profile, contract: numericString, model })
    const selves = model.heard.map(({ executor, message: { predecessors = [] } }) => [
      executor.part,
      predecessors.filter((one) => one['self'] === true).map(({ role }) => role),
      predecessors.length,
    ])
    const firstRound = [...Array(6).fill(['worker', [], 0]), ...Array(2).fill(['aggregator', [], 3])]
    const secondRound = [...Array(3).fill(['worker', ['judge'], 2]), ['aggregator', [], 3]]
    expect(selves).toEqual([...firstRound, ...secondRound, ['finalizer', [], 1]])
    for (const { raw, executor } of model.heard)
      if (executor.part === 'aggregator') expect(raw.system).not.toContain('"self"')
  })

  test('the own message is marked even among predecessors with the same name', async () => {
    const twin = unit('alpha')
    const units = [twin, twin, unit('beta', [], { agent: 1 }), unit('beta', [0, 1, 2], { agent: 1 })]
    const { heard } = await run(units, 'summarizer')
    const told = heard.find(({ message: { predecessors = [] } }) => predecessors.length === 3)!
    expect(told.message.predecessors!.map(({ role, self }) => [role, self === true])).toEqual([
      ['alpha', false],
      ['alpha', false],
      ['beta', true],
    ])
    expect(told.message.predecessors![1]!.id).toBe(`${told.message.predecessors![0]!.id}#2`)
  })

  test('a unit without marks sends an unchanged request', async () => {
    const { heard } = await run([unit('alpha')], 'summarizer')
    expect(heard[0]!.raw.user).toBe(
      `{"protocol":"analysis-answer-v2","executor":{"id":"alpha","role":"alpha","part":"atomic"},"task":{"question":"What is 6 times 7?"},"answer_requirement":${JSON.stringify(heard[0]!.message['answer_requirement'])},"predecessors":[]}`,
    )
  })

  test('a unit may have its own model and temperature, priced as that model', async () => {
    const [usual, other] = [new ScriptedModel(fits), new ScriptedModel(fits)]
    Object.assign(other, { identity: { provider: 'scripted', model: 'other', options: {} } })
    const price = { currency: 'CNY', asOf: '2026-01', source: 'test', cachedInput: 0, output: 0 }
    const prices = { 'scripted/m': { ...price, input: 1 }, 'scripted/other': { ...price, input: 100 } }
    const graph = AgentGraph.of([unit('alpha'), unit('beta', [], { model: 'big', temperature: 0.5 })], 'vote')
    const given = { graph, task: sum, library: fiveRoles, profile, contract: numericString }
    const settings = executionSettings.parse({ prices })
    const execution = await executeGraph({ ...given, model: usual, models: { big: other }, settings })
    expect(usual.heard).toHaveLength(1)
    expect(other.heard[0]!.raw.decoding.temperature).toBe(0.5)
    // Six tokens per call are billed: those not cached.
    expect(execution.cost).toEqual({ amount: (6 * 1 + 6 * 100) / 1_000_000, currency: 'CNY' })
    expect(execution.further).toMatchObject({ 'scripted/other': { calls: 1, input: 10, output: 5 } })
    await expect(executeGraph({ ...given, model: usual })).rejects.toThrow("wants the model 'big'")
  })
})

const fits = (heard: Heard) => fitting(heard, 'So.', '1')
