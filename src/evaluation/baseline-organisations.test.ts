import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { assertLegalGraph, type GraphLimits } from '../graph/legality.ts'
import { defineLibrary } from '../library/define-library.ts'
import type { ExecutorDefinition, Library, RoleDefinition } from '../library/library.ts'
import { paperLibrary } from '../library/paper-library/paper-library.ts'
import type { Task } from '../library/task.ts'
import type { Organiser } from '../organisations/organisation.ts'
import {
  chainOrganisation,
  directOrganisation,
  parallelOrganisation,
  randomOrganisation,
  shuffledOrganisation,
} from './baseline-organisations.ts'

const taskOf = (id: string): Task => ({ id, question: 'What is it?', metadata: {} })
const graphOf = async (organisation: Organiser, id = 't') => organisation.graphFor(taskOf(id))
const limits: GraphLimits = { maxUnits: 3, maxDepth: 4 }

const executor = (id: string): ExecutorDefinition => ({ id, responsibility: `Be ${id}.`, prompt: `${id}.` })

function role(id: string, kind: 'atomic' | 'group' | 'both', accepts?: readonly string[]): RoleDefinition {
  return {
    id,
    description: `The role ${id}.`,
    produces: [`${id}_text`],
    ...(accepts === undefined ? {} : { accepts }),
    ...(kind === 'group' ? {} : { atomic: executor(id) }),
    ...(kind === 'atomic'
      ? {}
      : {
          group: {
            workers: [executor(`${id}_1`), executor(`${id}_2`), executor(`${id}_3`)] as const,
            aggregator: executor(`${id}_all`),
          },
        }),
  }
}

/** Libraries with arbitrary realizations and compatibility. */
const arbitraryLibrary: fc.Arbitrary<Library> = fc
  .integer({ min: 1, max: 5 })
  .chain((size) =>
    fc.array(
      fc.record({
        kind: fc.constantFrom('atomic' as const, 'group' as const, 'both' as const),
        hears: fc.option(fc.subarray(Array.from({ length: size }, (_, index) => `r${index}_text`))),
      }),
      { minLength: size, maxLength: size },
    ),
  )
  .map((shapes) =>
    defineLibrary({
      roles: shapes.map(({ kind, hears }, index) => role(`r${index}`, kind, hears ?? undefined)),
    }),
  )

const arbitraryLimits = fc.record({
  maxUnits: fc.integer({ min: 1, max: 6 }),
  maxDepth: fc.integer({ min: 1, max: 8 }),
})

const units = (graph: AgentGraph) =>
  graph.units.map((unit) => [unit.role, unit.realization, ...unit.predecessors])

describe('direct', () => {
  test('is the empty graph', async () => {
    expect(await graphOf(directOrganisation())).toBe(AgentGraph.empty)
  })
})

describe('chain', () => {
  test('takes the first roles of the library, each listening to the previous one', async () => {
    const graph = await graphOf(chainOrganisation(paperLibrary, limits))
    expect(units(graph)).toEqual([
      ['task_decomposer', 'atomic'],
      ['evidence_analyst', 'atomic', 0],
      ['independent_solver', 'atomic', 1],
    ])
  })

  test('stops at the depth limit', async () => {
    const graph = await graphOf(chainOrganisation(paperLibrary, { maxUnits: 10, maxDepth: 2 }))
    expect(graph.size).toBe(2)
  })

  test('skips a role that cannot listen to the previous one', async () => {
    const library = defineLibrary({
      roles: [role('a', 'both'), role('b', 'both', ['c_text']), role('c', 'both', ['a_text'])],
    })
    expect(units(await graphOf(chainOrganisation(library, limits)))).toEqual([
      ['a', 'atomic'],
      ['c', 'atomic', 0],
    ])
  })

  test('uses a group for a role without an atomic agent, if the depth allows', async () => {
    const library = defineLibrary({ roles: [role('a', 'group'), role('b', 'group'), role('c', 'atomic')] })
    expect(units(await graphOf(chainOrganisation(library, { maxUnits: 3, maxDepth: 3 })))).toEqual([
      ['a', 'group'],
      ['c', 'atomic', 0],
    ])
  })

  test('is a legal path in every library and within all limits', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLibrary, arbitraryLimits, async (library, bounds) => {
        const graph = await graphOf(chainOrganisation(library, bounds))
        assertLegalGraph(graph, { roles: library.space, restriction: 'mixed', ...bounds })
        for (const [position, { predecessors }] of graph.units.entries())
          expect(predecessors).toEqual(position === 0 ? [] : [position - 1])
      }),
    )
  })
})

describe('parallel', () => {
  test('uses every role once, without edges, whatever a policy may place', async () => {
    const graph = await graphOf(parallelOrganisation(paperLibrary))
    expect(graph.units.map((unit) => unit.role)).toEqual(paperLibrary.roles.map(({ id }) => id))
    expect(graph.units.every(({ realization }) => realization === 'atomic')).toBe(true)
    expect(graph.sinks).toHaveLength(14)
  })

  test('is legal in every library', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLibrary, async (library) => {
        const graph = await graphOf(parallelOrganisation(library))
        expect(graph.size).toBe(library.roles.length)
        assertLegalGraph(graph, { roles: library.space, restriction: 'mixed', maxUnits: 5, maxDepth: 2 })
      }),
    )
  })
})

describe('random', () => {
  test('is legal in every library and within all limits', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryLibrary,
        arbitraryLimits,
        fc.nat(),
        fc.string(),
        async (library, bounds, seed, id) => {
          const graph = await graphOf(randomOrganisation(library, bounds, seed), id)
          assertLegalGraph(graph, { roles: library.space, restriction: 'mixed', ...bounds })
        },
      ),
    )
  })

  test('depends only on seed and task id', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.string(), fc.string(), async (seed, id, other) => {
        const organisation = randomOrganisation(paperLibrary, limits, seed)
        const first = await graphOf(organisation, id)
        await graphOf(organisation, other)
        expect(await graphOf(organisation, id)).toEqual(first)
        expect(await graphOf(randomOrganisation(paperLibrary, limits, seed), id)).toEqual(first)
      }),
    )
  })

  test('differs between tasks and between seeds', async () => {
    const drawn = async (seed: number) =>
      Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          JSON.stringify(await graphOf(randomOrganisation(paperLibrary, limits, seed), `t${index}`)),
        ),
      )
    const [one, two] = [await drawn(1), await drawn(2)]
    expect(new Set(one).size).toBeGreaterThan(15)
    expect(one).not.toEqual(two)
  })

  test('picks every legal choice equally often', async () => {
    const { library } = tinyTaskSet
    const organisation = randomOrganisation(library, limits, 3)
    const graphs = await Promise.all(
      Array.from({ length: 7000 }, (_, index) => graphOf(organisation, `t${index}`)),
    )
    const share = (count: number, of: number) => count / of
    const firsts = graphs.map(({ units: [first] }) => first)
    // Six roles and STOP: 1/7 each, with a standard error of 0.004 here.
    for (const choice of [undefined, ...library.roles.map(({ id }) => id)]) {
      const count = firsts.filter((first) => first?.role === choice).length
      expect(share(count, graphs.length)).toBeCloseTo(1 / 7, 1.5)
    }
    const placed = firsts.filter((first) => first !== undefined)
    const grouped = placed.filter(({ realization }) => realization === 'group').length
    expect(share(grouped, placed.length)).toBeCloseTo(1 / 2, 1.5)
    const seconds = graphs.flatMap(({ units: [, second] }) => second ?? [])
    const listening = seconds.filter(({ predecessors }) => predecessors.length === 1).length
    expect(share(listening, seconds.length)).toBeCloseTo(1 / 2, 1.5)
  })
})

describe('shuffled', () => {
  const all = randomOrganisation(paperLibrary, limits, 1)
  const key = (graph: AgentGraph) => JSON.stringify(graph)

  test('every question gets another question’s graph, each graph is used once, and the seed decides', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 60 }), fc.nat(100), async (count, seed) => {
        const tasks = Array.from({ length: count }, (_, index) => taskOf(`t${index}`))
        const given: string[] = []
        // Each graph reveals the question it was built for.
        const own: Organiser = {
          name: 'own',
          description: '',
          graphFor: (task) => {
            given.push(task.id)
            return AgentGraph.empty
          },
        }
        const shuffled = shuffledOrganisation(own, tasks, seed)
        for (const task of tasks) await shuffled.graphFor(task)
        expect(given.every((id, place) => id !== tasks[place]!.id)).toBe(true)
        expect(given.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
        const first = [...given]
        given.length = 0
        const again = shuffledOrganisation(own, tasks, seed)
        for (const task of tasks) await again.graphFor(task)
        expect(given).toEqual(first)
      }),
      { numRuns: 50 },
    )
  })

  test('the graphs come from the organisation; a single question cannot be shuffled', async () => {
    const tasks = [taskOf('a'), taskOf('b')]
    const shuffled = shuffledOrganisation(all, tasks, 3)
    expect(shuffled.name).toBe('random, shuffled')
    expect(key(await graphOf(shuffled, 'a'))).toBe(key(await graphOf(all, 'b')))
    expect(() => shuffledOrganisation(all, tasks.slice(1), 3)).toThrow('at least 2 questions')
  })
})
