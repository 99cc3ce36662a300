import { describe, expect, test } from 'vitest'
import { numbersLike, threeRoles, tinyOptions, tinyParameters, tinyPolicy } from '../../test/tiny-policy.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { assertLegalGraph, type ConstructionSpace, type Restriction } from '../graph/legality.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type Construction, type ConstructionJob, constructGraphs } from './construction.ts'
import { constructionBatch, type GraphOrder } from './construction-batch.ts'
import { constructionThread } from './construction-thread.ts'
import type { ConstructionPolicy } from './policy.ts'

const space: ConstructionSpace = {
  roles: threeRoles,
  maxUnits: 3,
  maxDepth: 4,
  restriction: 'mixed',
}
const options = tinyOptions(space)

function job(index: number, change: Partial<ConstructionJob> = {}): ConstructionJob {
  return {
    query: numbersLike(3, index, 1),
    random: deriveRandom(9, 'job', index),
    restriction: 'mixed',
    temperature: 2,
    dropout: false,
    ...change,
  }
}

const jobs = (count: number, change: (index: number) => Partial<ConstructionJob> = () => ({})) =>
  Array.from({ length: count }, (_, index) => job(index, change(index)))

/** Every step starts from the previous step's graph, and the last is STOP. */
function expectReplay({ graph, steps }: Construction): void {
  let built = AgentGraph.empty
  for (const [index, step] of steps.entries()) {
    expect(step.graph).toEqual(built)
    const last = index === steps.length - 1
    expect(step.action.type).toBe(last ? 'stop' : 'add')
    if (step.action.type === 'add') built = built.add(step.action)
  }
  expect(built).toEqual(graph)
}

test('the steps replay to the graph and end with STOP, even at the limit', () => {
  const built = constructGraphs(tinyPolicy(options), jobs(100))
  for (const construction of built) expectReplay(construction)
  const sizes = built.map(({ graph }) => graph.size)
  expect(new Set(sizes)).toEqual(new Set([0, 1, 2, 3]))
  const full = built.find(({ graph }) => graph.size === 3)!
  expect(full.steps).toHaveLength(4)
  expect(full.steps.at(-1)!.action).toEqual({ type: 'stop' })
  expect(built.some(({ graph }) => graph.units.some(({ predecessors }) => predecessors.length > 0))).toBe(
    true,
  )
})

test.each(['mixed', 'all-atomic', 'all-group'] as Restriction[])(
  'a graph is legal in its space: %s',
  (restriction) => {
    const built = constructGraphs(
      tinyPolicy(options),
      jobs(60, () => ({ restriction })),
    )
    for (const { graph } of built) assertLegalGraph(graph, { ...space, restriction })
    expect(built.some(({ graph }) => graph.size > 0)).toBe(true)
  },
)

test('if nothing can be added, the graph is empty', () => {
  // Depth 1 has no room for a group.
  const shallow = tinyPolicy(tinyOptions({ ...space, maxDepth: 1 }))
  const [built] = constructGraphs(shallow, [job(1, { restriction: 'all-group' })])
  expect(built).toEqual({
    graph: AgentGraph.empty,
    steps: [{ graph: AgentGraph.empty, action: { type: 'stop' }, dropoutKeep: null }],
  })
  expect(constructGraphs(shallow, [])).toEqual([])
})

describe('a graph depends only on its own job', () => {
  test('the same job gives the same graph, steps and masks', () => {
    const build = () =>
      constructGraphs(
        tinyPolicy(options),
        jobs(30, (index) => ({ dropout: index % 2 === 0 })),
      )
    expect(build()).toEqual(build())
    const other = constructGraphs(
      tinyPolicy(options),
      jobs(30, (index) => ({ random: deriveRandom(10, index) })),
    )
    expect(other.map(({ graph }) => graph)).not.toEqual(build().map(({ graph }) => graph))
  })

  test.each([4, 19])('alone or in a mixed batch of 64 (H = %i)', (hidden) => {
    const sized = { ...options, dimensions: { ...options.dimensions, hidden } }
    const policy = tinyPolicy(sized, tinyParameters(sized, 1, 0.4))
    const mixed = () =>
      jobs(64, (index) => ({
        dropout: index % 3 === 0,
        restriction: (['mixed', 'all-atomic', 'all-group'] as const)[index % 4] ?? 'mixed',
        temperature: 1 + (index % 5),
      }))
    const together = constructGraphs(policy, mixed())
    const alone = mixed().map((single) => constructGraphs(policy, [single])[0])
    expect(together).toEqual(alone)
    expect(together.some(({ graph }) => graph.size === 3)).toBe(true)
  })

  test('to the last bit of its probabilities, whatever else is in the batch', () => {
    // Sampling would hide the last bit, so bisect for the draw that just turns the second decision into
    // STOP.
    const policy = tinyPolicy(options)
    const second = (others: ConstructionJob[], uniform: number) => {
      const draws = [0, 0, uniform]
      const random = { uniform: () => draws.shift() ?? 0, normal: () => 0 }
      return constructGraphs(policy, [job(3, { random }), ...others])[0]!.steps[1]!.action.type
    }
    const threshold = (others: () => ConstructionJob[]) => {
      let [low, high] = [0, 1 - 2 ** -53]
      expect([second(others(), low), second(others(), high)]).toEqual(['add', 'stop'])
      while ((low + high) / 2 > low && (low + high) / 2 < high) {
        const middle = (low + high) / 2
        if (second(others(), middle) === 'add') low = middle
        else high = middle
      }
      return low
    }
    const alone = threshold(() => [])
    expect(threshold(() => jobs(7))).toBe(alone)
    expect(threshold(() => jobs(3, () => ({ dropout: true })))).toBe(alone)
  })

  test('a job may be listed twice and continues its draws', () => {
    const shared = job(5)
    const [first, second] = constructGraphs(tinyPolicy(options), [shared, shared])
    expectReplay(first!)
    expectReplay(second!)
  })
})

describe('dropout', () => {
  test('drops a tenth of the entries, anew for every unit and decision', () => {
    const built = constructGraphs(
      tinyPolicy(options),
      jobs(400, () => ({ dropout: true })),
    )
    let [kept, all] = [0, 0]
    for (const { steps } of built) {
      expectReplay({ graph: steps.at(-1)!.graph, steps })
      for (const { graph, dropoutKeep } of steps) {
        expect(dropoutKeep).toHaveLength(graph.size)
        for (const keep of dropoutKeep!) {
          expect(keep).toHaveLength(4)
          for (const entry of keep) {
            expect(entry === 0 || entry === 1).toBe(true)
            kept += entry
            all += 1
          }
        }
      }
    }
    expect(all).toBeGreaterThan(3000)
    expect(Math.abs(kept / all - 0.9)).toBeLessThan(4 * Math.sqrt((0.9 * 0.1) / all))
  })

  test('of another rate drops that share; without dropout nothing is recorded', () => {
    const policy = tinyPolicy({ ...options, dropoutRate: 0.5 })
    const [masked, plain] = [true, false].map((dropout) =>
      constructGraphs(
        policy,
        jobs(100, () => ({ dropout })),
      ),
    )
    const entries = masked!.flatMap(({ steps }) =>
      steps.flatMap(({ dropoutKeep }) => dropoutKeep!.flatMap((k) => [...k])),
    )
    const share = entries.reduce((sum, entry) => sum + entry, 0) / entries.length
    expect(Math.abs(share - 0.5)).toBeLessThan(4 * Math.sqrt(0.25 / entries.length))
    expect(plain!.every(({ steps }) => steps.every(({ dropoutKeep }) => dropoutKeep === null))).toBe(true)
  })
})

test('after a weight change, graphs match those of a new policy with the same weights', () => {
  const policy = tinyPolicy(options)
  const kinds = () => jobs(40, (index) => ({ dropout: index % 2 === 0 }))
  const before = constructGraphs(policy, kinds())
  const changed = tinyParameters(options, 5)
  policy.parameters.write(changed)
  const after = constructGraphs(policy, kinds())
  expect(after).toEqual(constructGraphs(tinyPolicy(options, changed), kinds()))
  expect(after).not.toEqual(before)
  policy.parameters.write(tinyParameters(options))
  expect(constructGraphs(policy, kinds())).toEqual(before)
})

test('a frozen copy keeps its weights, and the two are independent', () => {
  const policy = tinyPolicy(options)
  const frozen = policy.freeze()
  const before = constructGraphs(frozen, jobs(20))
  policy.parameters.write(tinyParameters(options, 5))
  const moved = constructGraphs(policy, jobs(20))
  expect(constructGraphs(frozen, jobs(20))).toEqual(before)
  expect(constructGraphs(policy, jobs(20))).toEqual(moved)
  expect(moved).not.toEqual(before)
})

test('building leaks no memory', () => {
  const policy = tinyPolicy(options)
  constructGraphs(policy, jobs(64))
  const mark = policy.workspace.mark()
  const { byteLength } = policy.workspace.kernels.memory.buffer
  for (let times = 0; times < 30; times += 1) constructGraphs(policy, jobs(64))
  expect(policy.workspace.mark()).toBe(mark)
  expect(policy.workspace.kernels.memory.buffer.byteLength).toBe(byteLength)
})

test('without random numbers every choice is the most probable one', () => {
  const sizes = new Set<number>()
  for (let seed = 0; seed < 30; seed += 1) {
    const policy = tinyPolicy(options, tinyParameters(options, seed))
    const [built] = constructGraphs(policy, [job(seed, { random: undefined })])
    sizes.add(built!.graph.size)
    for (const { graph, action } of built!.steps)
      expect(action).toEqual(policy.inspect(job(seed).query, graph, { temperature: 2 }).distribution.sample())
  }
  expect(sizes.size).toBeGreaterThan(1)
})

test('an invalid job is refused, and the policy keeps working', () => {
  const policy = tinyPolicy(options)
  const good = constructGraphs(policy, [job(1)])
  const broken = (change: Partial<ConstructionJob>) => () => constructGraphs(policy, [job(1, change)])
  expect(broken({ query: [1, 2] })).toThrow('2 entries, but the policy needs 3')
  expect(broken({ query: [1, Number.NaN, 2] })).toThrow('not finite')
  expect(broken({ temperature: 0 })).toThrow('must be above 0')
  expect(constructGraphs(policy, [job(1)])).toEqual(good)
})

/** `job(index)` as requested from a builder. */
const order = (index: number): GraphOrder => ({
  ...{ query: numbersLike(3, index, 1), restriction: 'mixed', temperature: 2 },
  draws: [9, 'job', index],
})
const orders = (count: number) => Array.from({ length: count }, (_, index) => order(index))

test.for([
  { name: 'in a batch', builder: constructionBatch },
  { name: 'in a thread', builder: constructionThread },
])('graphs requested concurrently equal those built one by one: $name', async ({ builder }) => {
  const policy = tinyPolicy(options)
  const build = builder(policy)
  const together = await Promise.all(orders(40).map(build))
  expect(together).toEqual(jobs(40).map((one) => constructGraphs(policy, [one])[0]))
  const likeliest = constructGraphs(policy, [job(3, { random: undefined })])[0]
  expect(await build({ ...order(3), draws: undefined })).toEqual(likeliest)
  await expect(build({ ...order(0), query: new Float32Array(1) })).rejects.toThrow('1 entries, but')
  expect(await build(order(3))).toEqual(together[3])
})

test('a thread that cannot start rejects its requests', async () => {
  const policy = tinyPolicy(options)
  const broken = { ...policy, options: { ...policy.options, vectors: [] }, parameters: policy.parameters }
  const build = constructionThread(broken as unknown as ConstructionPolicy)
  await expect(build(order(0))).rejects.toThrow('0 role vectors for 3 roles')
  await expect(build(order(1))).rejects.toThrow('0 role vectors for 3 roles')
})
