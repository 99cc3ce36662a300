import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryBuildOrder, arbitraryGraph } from '../../test/arbitrary-graph.ts'
import { fitting, type Heard, ScriptedModel } from '../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../test/tiny-library.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { reorder } from '../graph/graph-key.ts'
import { freeText } from '../library/answer-contract.ts'
import { CallLimit } from '../models/call-limit.ts'
import { executionSettings } from '../settings/execution.ts'
import { executeGraph } from './execute-graph.ts'
import { orderMessages } from './request.ts'

const task = { id: 't', question: 'What is it?', metadata: {} }

/** Answers at random times, depending only on the request, like a model at temperature 0. */
function honest(shuffle: () => number = () => 0): ScriptedModel {
  return new ScriptedModel(async (heard) => {
    for (let turns = shuffle(); turns > 0; turns -= 1) await Promise.resolve()
    const seen = JSON.stringify(heard.message.predecessors ?? null)
    return fitting(heard, `I am ${heard.executor.id} and heard ${seen.length} characters.`, heard.executor.id)
  })
}

async function requestsOf(graph: AgentGraph, model = honest(), budgets = {}): Promise<Heard[]> {
  const execution = await executeGraph({
    graph,
    task,
    library: tinyLibrary,
    profile: tinyProfile,
    contract: freeText,
    model,
    limit: new CallLimit(1000),
    settings: executionSettings.parse({ budgets }),
  })
  expect(execution.status).toBe('answered')
  return model.heard
}

const texts = (heard: readonly Heard[]) => heard.map(({ raw }) => `${raw.system}\n${raw.user}`).sort()

/** How often each text occurs beyond its count in another list. */
function beyond(some: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return some.filter((text) => {
    const index = left.indexOf(text)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

describe('the requests of a graph', () => {
  const roles = ['a', 'b']

  test('do not depend on construction order or time', async () => {
    const arbitrary = arbitraryGraph({ maxUnits: 5, roles }).chain((graph) =>
      fc.record({ graph: fc.constant(graph), order: arbitraryBuildOrder(graph), seed: fc.nat() }),
    )
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ graph, order, seed }) => {
        let state = seed
        const shuffle = () => {
          state = (state * 1103515245 + 12345) % 2147483648
          return state % 7
        }
        const straight = await requestsOf(graph)
        const reordered = await requestsOf(reorder(graph, order), honest(shuffle))
        expect(texts(reordered)).toEqual(texts(straight))
      }),
      { numRuns: 150 },
    )
  })

  test('are the same for a shared part, whatever else the graphs contain', async () => {
    const arbitrary = fc.record({
      part: arbitraryGraph({ maxUnits: 3, roles }),
      more: arbitraryGraph({ maxUnits: 3, roles }),
      listens: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
      first: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ part, more, listens, first }) => {
        // The part beside another graph, in either order; units of the other graph may listen to the part.
        const beside = (units: AgentGraph['units'], offset: number) =>
          units.map((unit) => ({ ...unit, predecessors: unit.predecessors.map((at) => at + offset) }))
        const units = first
          ? [
              ...part.units,
              ...beside(more.units, part.size).map((unit, index) => ({
                ...unit,
                predecessors: [
                  ...unit.predecessors,
                  ...[...part.units.keys()].filter((at) => listens[index * 3 + at]),
                ],
              })),
            ]
          : [...more.units, ...beside(part.units, more.size)]
        const whole = await requestsOf(AgentGraph.of(units))
        const alone = await requestsOf(part)
        const inner = alone.filter(({ executor }) => !['finalizer', 'direct'].includes(executor.part))
        expect(beyond(texts(inner), texts(whole))).toEqual([])
      }),
      { numRuns: 150 },
    )
  })

  test('of twins are identical', async () => {
    const twin = { role: 'a', realization: 'atomic', predecessors: [] } as const
    const graph = AgentGraph.of([twin, twin, { role: 'b', realization: 'atomic', predecessors: [0, 1] }])
    const heard = await requestsOf(graph)
    const [first, second] = texts(heard.filter(({ executor }) => executor.id === 'a'))
    expect(second).toBe(first)
    const ids = heard.find(({ executor }) => executor.id === 'b')!.message.predecessors!.map(({ id }) => id)
    expect(ids[1]).toBe(`${ids[0]}#2`)
  })
})

test('messages with the same name are ordered by content', () => {
  const message = (key: string, said: string) => ({
    name: 'a-1',
    text: { key, text: `{"id":"a-1","analysis":"${said}"}` },
  })
  const [x, y, z] = [message('u0', 'x'), message('u1', 'y'), message('u2', 'z')]
  const expected = [
    { key: 'u0', text: '{"id":"a-1","analysis":"x"}' },
    { key: 'u1#2', text: '{"id":"a-1#2","analysis":"y"}' },
    { key: 'u2#3', text: '{"id":"a-1#3","analysis":"z"}' },
  ]
  for (const order of [
    [x, y, z],
    [z, y, x],
    [y, z, x],
  ])
    expect(orderMessages(order)).toEqual(expected)
})

describe('the budget of a request', () => {
  const graph = AgentGraph.of([
    { role: 'a', realization: 'group', predecessors: [] },
    { role: 'b', realization: 'atomic', predecessors: [0] },
  ])
  const talkative = () => new ScriptedModel((heard) => fitting(heard, '😀'.repeat(500_000), 'an answer'))

  test('holds for every message and every request', async () => {
    const heard = await requestsOf(graph, talkative(), { analysis: 1000, request: 200_000 })
    for (const { raw, message } of heard) {
      expect([...raw.user].length).toBeLessThan(6000)
      for (const { analysis, answer } of message.predecessors ?? []) {
        expect([...analysis!].length).toBeLessThanOrEqual(1000)
        expect(analysis).toMatch(/^(?:😀)+ … \[cut: 499\d{3} more characters\]$/u)
        expect(answer).toBe('an answer')
      }
    }
  })

  test('holds when the budgets of the parts exceed the whole', async () => {
    const heard = await requestsOf(graph, talkative(), { analysis: 300_000, request: 5000 })
    for (const { raw, message } of heard) {
      expect([...raw.user].length).toBeLessThanOrEqual(5000)
      expect(raw.user.isWellFormed()).toBe(true)
      expect(message['task']).toEqual({ question: 'What is it?' })
    }
    const aggregator = heard.find(({ executor }) => executor.part === 'aggregator')!
    expect(aggregator.message.predecessors!.map(({ answer, status }) => [answer, status])).toEqual(
      Array(3).fill(['an answer', 'ok']),
    )
    // No space is wasted either.
    expect([...aggregator.raw.user].length).toBeGreaterThan(4900)
  })

  test('holds for any number of messages', async () => {
    const many = AgentGraph.of(
      Array.from({ length: 80 }, (_, index) => ({
        role: 'a',
        realization: 'atomic' as const,
        predecessors: index === 0 ? [] : [index - 1, ...(index > 1 ? [0] : [])],
      })),
    )
    const hub = many.add({ role: 'b', realization: 'atomic', predecessors: [...many.units.keys()] })
    const heard = await requestsOf(hub, honest(), { request: 4000 })
    for (const { raw } of heard) expect([...raw.user].length).toBeLessThanOrEqual(4000)
    const { message } = heard.find(({ executor }) => executor.id === 'b')!
    expect(message.predecessors).toMatch(/^\[\{"id":"a-.* … \[cut: \d+ more characters\]$/s)
  })
})
