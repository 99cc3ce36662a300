import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Comparison, tolerances } from '../../../conformance/policy/tolerance.ts'
import { improvement, learnerMeans, worldTasks } from '../../../test/organisations/learning-world.ts'
import { runGraph } from '../../../test/organisations/organisation-run.ts'
import { atomic, tinyLibrary } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { GraphLook } from '../../learning/graph-learner.ts'
import { type PlainTraining, plainUpdate } from '../../learning/reference/update.ts'
import { demonstrationGroup } from '../../learning/search/demonstration.ts'
import { policyOptions } from '../../learning/untrained-policy.ts'
import { freshAdam } from '../../numerics/plain/adam.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { drawDropout } from '../../policy/construction.ts'
import { ConstructionPolicy } from '../../policy/policy.ts'
import { PlainNetwork } from '../../policy/reference/network.ts'
import { trainingSettings } from '../../settings/training.ts'
import { questionVector } from './agents.ts'
import { searchThenSft } from './search-then-sft.ts'

const means = learnerMeans(5, 6)
const open = (options: object) => searchThenSft.learner!(means, searchThenSft.options.parse(options))
/** A number in (0, 1), fixed per graph. */
const scoreOf = (graph: AgentGraph) => hash('sha256', graphKey(graph), 'buffer').readUInt32BE() / 2 ** 32

test('a search batch has eight distinct graphs including the empty one, then the best one’s deletions; known graphs are not asked again', async () => {
  const learner = await open({ hidden: 4, passes: 2, stages: 1, maxUnits: 2 })
  const tasks = worldTasks.slice(0, 1)
  const rounds: (readonly GraphLook[])[] = []
  // The score grows with the units.
  const evaluate = async ({ size }: AgentGraph) => ({ score: size / 2 })
  const mayContinue = () => true
  const first = (await learner.update({ update: 0, tasks, rounds, evaluate, mayContinue }))!
  // None, one, two in a row, two side by side; three do not fit, so the others are random.
  expect(
    first.looks.slice(0, 4).map(({ graph: { units } }) => units.map(({ predecessors }) => predecessors)),
  ).toEqual([[], [[]], [[], [0]], [[], []]])
  expect(new Set(first.looks.map(({ graph }) => graphKey(graph))).size).toBe(first.looks.length)
  expect(first.looks.every(({ task }) => task === 'task-0')).toBe(true)
  // Half the search: no stage is reached, nothing is learned.
  expect(learner.adam.read().step).toBe(0)
  rounds.push(first.looks)
  const second = (await learner.update({ update: 1, tasks, rounds, evaluate, mayContinue }))!
  const known = new Set(first.looks.map(({ graph }) => graphKey(graph)))
  expect(second.looks.filter(({ graph }) => known.has(graphKey(graph)))).toEqual([])
  // The whole search: one stage, one question, one step.
  expect(learner.adam.read().step).toBe(1)
})

test('steps match the recipe: cross-entropy on the best graphs, dropout, no KL, no entropy', async () => {
  const options = { hidden: 8, passes: 1, stages: 3, maxUnits: 2 }
  const learner = await open(options)
  const settings = trainingSettings.parse({ hidden: 8, maxUnits: 2, seed: 6 })
  const shape = await policyOptions(tinyLibrary, settings, means.encoder)
  const sizes = {
    dimensions: shape.dimensions,
    roles: shape.roles,
    embeddings: shape.vectors,
    dropoutRate: shape.dropoutRate!,
  }
  const policy = ConstructionPolicy.initialize(shape, 6)
  const doubles = () =>
    new Map(
      [...learner.parameters.read()].map(([name, { shape: of, data }]) => [
        name,
        { shape: of, data: Float64Array.from(data) },
      ]),
    )
  let training: PlainTraining = { parameters: doubles(), adam: freshAdam }
  const reference = new PlainNetwork(training.parameters, sizes, true)
  const comparison = new Comparison()

  // No two graphs score the same, so each question teaches its best graph so far. One question per update;
  // of three questions, each batch ends a stage, in which questions without a graph yet teach nothing.
  const tasks = worldTasks.slice(0, 3)
  const rounds: (readonly GraphLook[])[] = []
  const evaluate = async (graph: AgentGraph) => ({ score: scoreOf(graph) })
  const best = new Map<string, GraphLook>()
  let steps = 0
  for (let update = 0; update < 3; update += 1) {
    const made = (await learner.update({ update, tasks, rounds, evaluate, mayContinue: () => true }))!
    rounds.push(made.looks)
    for (const look of made.looks)
      if (look.score > (best.get(look.task)?.score ?? 0)) best.set(look.task, look)
    const stage = update + 1
    let last: number | undefined
    for (const task of tasks.slice(0, update + 1)) {
      const group = demonstrationGroup(
        await questionVector(task, means.encoder),
        best.get(task.id)!.graph,
        (position, before) => drawDropout(policy, before, deriveRandom(6, 'sft', stage, task.id, position)),
      )
      const [{ loss }, next] = plainUpdate(training, reference, group, { divergence: 0, entropy: 0 }, adam)
      training = next
      steps += 1
      last = loss
    }
    if (last !== undefined)
      comparison.number(`loss of update ${update}`, made.loss, last, tolerances.float32.values)
  }
  expect(steps).toBe(1 + 2 + 3)
  const { first, second, step } = learner.adam.read()
  expect(step).toBe(steps)
  const flat = (map: ReadonlyMap<string, Float64Array>) => [...map.values()].flatMap((data) => [...data])
  comparison.list('first moments', first, flat(training.adam.first), tolerances.float32.gradients)
  comparison.list('second moments', second, flat(training.adam.second), tolerances.float32.gradients)
  const after = learner.parameters.read()
  for (const [name, { data }] of training.parameters)
    comparison.list(name, after.get(name)!.data, data, tolerances.float32.weights)
  expect(comparison.differences).toEqual([])
})

const adam = { learningRate: 1e-4, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }

describe('in a world that pays for a single graph', () => {
  const only = AgentGraph.of([atomic('a'), atomic('b', [0])])

  test('it learns to build that graph, whose calls follow its edges', async () => {
    const learner = await open({ hidden: 16, passes: 12, stages: 48, maxUnits: 2, learningRate: 1e-2 })
    const { before, after } = await improvement(learner, worldTasks, (graph) =>
      Number(graphKey(graph) === graphKey(only)),
    )
    expect(before).toBeLessThan(0.2)
    expect(after).toBeGreaterThan(before + 0.3)
    const graphs = await Promise.all(worldTasks.map((task) => learner.graphFor(task)))
    const graph = graphs.find((one) => graphKey(one) === graphKey(only))!
    const say = ({ who }: { who: string }) => ({ a: 5, b: 6 })[who] ?? 42
    const { calls, answer } = await runGraph(graph, say, { library: tinyLibrary })
    expect(calls.map(({ who, hears }) => [who, ...hears])).toEqual([
      ['a'],
      ['b', 'a: 5'],
      ['finalizer', 'b: 6'],
    ])
    expect(answer).toBe('42')
  })
})
