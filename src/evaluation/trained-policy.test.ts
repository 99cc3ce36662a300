import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { tinySettings, trainTiny } from '../../test/tiny-training.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { queryEmbedding } from '../encoder/query-embedding.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { assertLegalGraph, type Restriction } from '../graph/legality.ts'
import type { Task } from '../library/task.ts'
import { deriveRandom } from '../numerics/random.ts'
import { constructGraphs } from '../policy/construction.ts'
import type { GivenTrainingSettings } from '../settings/training.ts'
import { splitOf } from '../tasks/task-set.ts'
import { loadPolicy, type TrainedOrganisation, type TrainedPolicy } from './trained-policy.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-policy-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const { tasks } = splitOf(tinyTaskSet, 'test')

let untrained: TrainedPolicy
let cold: TrainedPolicy
let greedy: TrainedPolicy
let warm: TrainedPolicy
let gained: TrainedPolicy
beforeAll(async () => {
  const settings = { ...tinySettings, hidden: 16, maxUnits: 3, initialisationOnly: true }
  const load = async (name: string, change: GivenTrainingSettings) => {
    const folder = join(work, name)
    await trainTiny(folder, { settings: { ...settings, ...change } })
    return loadPolicy(folder, { encoder: lexicalEncoder })
  }
  untrained = await load('warm', {})
  cold = await load('cold', { temperatureEnd: 1e-4 })
  greedy = await load('greedy', { useTemperature: 0 })
  warm = await load('by-content', { useTemperature: 2 })
  gained = await load('gained', { gain: 12 })
})

async function graphsOf(drawing: TrainedOrganisation, questions: readonly Task[] = tasks) {
  const graphs: AgentGraph[] = []
  for (const task of questions) graphs.push(await drawing.graphFor(task))
  return graphs
}

const texts = (graphs: readonly object[]) => graphs.map((graph) => JSON.stringify(graph))

test('follows Procedure A2: no dropout, temperature 1, draws by seed and task id', async () => {
  const expected = await Promise.all(
    tasks.map(async (task) => {
      const query = await queryEmbedding(task, tinyTaskSet, lexicalEncoder)
      const random = deriveRandom(42, 'inference', task.id)
      return constructGraphs(untrained.policy!, [
        { query, random, restriction: 'mixed', temperature: 1, dropout: false },
      ])[0]!.graph
    }),
  )
  expect(await graphsOf(untrained.organisation())).toEqual(expected)
})

test('a graph does not depend on the other questions or their order', async () => {
  const many: Task[] = Array.from({ length: 100 }, (_, index) => ({
    ...tasks[index % tasks.length]!,
    id: `question-${index}`,
  }))
  const together = await graphsOf(untrained.organisation(), many)
  const backwards = await graphsOf(untrained.organisation(), many.toReversed())
  expect(texts(backwards.toReversed())).toEqual(texts(together))
  for (const index of [99, 0, 50])
    expect(await untrained.organisation().graphFor(many[index]!)).toEqual(together[index])
  expect(new Set(texts(together)).size).toBeGreaterThan(20)
})

test('another seed draws different graphs', async () => {
  const [one, other] = [
    await graphsOf(untrained.organisation()),
    await graphsOf(untrained.organisation({ seed: 43 })),
  ]
  expect(texts(one)).not.toEqual(texts(other))
})

test.each<Restriction>(['mixed', 'all-atomic', 'all-group'])('%s graphs are legal', async (restriction) => {
  for (const graph of await graphsOf(untrained.organisation({ restriction })))
    assertLegalGraph(graph, untrained.policy!.space(restriction))
})

test('temperature 0 gives the graph that a very low temperature draws, for any seed', async () => {
  const likeliest = await graphsOf(untrained.organisation({ temperature: 0, seed: 5 }))
  expect(texts(likeliest)).toEqual(texts(await graphsOf(cold.organisation())))
})

test('a low temperature takes the likeliest choice, for any seed', async () => {
  const at = (seed: number) => cold.organisation({ seed }).graphFor(tasks[0]!)
  expect(await at(1)).toEqual(await at(2))
})

/** The same question under many ids. */
const renamed = (task: Task): Task[] =>
  Array.from({ length: 20 }, (_, index) => ({ ...task, id: `another id ${index}` }))

test('with use temperature 0 it takes the most probable choices, for any seed and id', async () => {
  const likeliest = await cold.organisation().graphFor(tasks[0]!)
  const graphs = await graphsOf(greedy.organisation(), renamed(tasks[0]!))
  expect(new Set(texts(graphs))).toEqual(new Set(texts([likeliest])))
  expect(await greedy.organisation({ seed: 43 }).graphFor(tasks[0]!)).toEqual(likeliest)
  expect(await untrained.organisation({ temperature: 0 }).graphFor(tasks[0]!)).toEqual(likeliest)
})

test('with a use temperature, draws depend on the question and not on its id', async () => {
  const graphs = await graphsOf(warm.organisation(), renamed(tasks[0]!))
  expect(new Set(texts(graphs)).size).toBe(1)
  const asPaper = await graphsOf(untrained.organisation(), renamed(tasks[0]!))
  expect(new Set(texts(asPaper)).size).toBeGreaterThan(5)
  const [task] = tasks
  const variants = Array.from({ length: 20 }, (_, index) => ({ ...task!, context: [`passage ${index}`] }))
  expect(new Set(texts(await graphsOf(warm.organisation(), variants))).size).toBeGreaterThan(5)
})

test('the gain is restored with the run', async () => {
  expect(gained.policy!.gain).toBe(12)
  expect(untrained.policy!.gain).toBe(1)
  expect(await graphsOf(gained.organisation())).not.toEqual(await graphsOf(untrained.organisation()))
})
