import { expect, test } from 'vitest'
import { fiveRoles, runOrganisation, sum } from '../../test/organisations/organisation-run.ts'
import { deriveRandom } from '../numerics/random.ts'
import { topologies, topology } from './topologies.ts'

const called = (name: string) => topologies.find((one) => one.name === name)!
const edges = (name: Parameters<typeof topology>[0], units: number, id = 'sum') => {
  const graph = topology(name, fiveRoles, units, 1).graphFor({ ...sum, id })
  return Promise.resolve(graph).then(({ units: all }) =>
    all.map(({ role, predecessors }) => [role, ...predecessors]),
  )
}

test('chain: each hears the previous one, the finalizer the last', async () => {
  const { calls, answer } = await runOrganisation(called('chain-topology'), {}, ({ who }) => who.length)
  expect(calls.map(({ who, hears }) => [who, ...hears])).toEqual([
    ['alpha'],
    ['beta', 'alpha: 5'],
    ['gamma', 'beta: 4'],
    ['delta', 'gamma: 5'],
    ['finalizer', 'delta: 5'],
  ])
  expect(answer).toBe('9')
})

test('complete: each hears all previous ones; the finalizer hears the sink, or all', async () => {
  const sinks = await runOrganisation(called('complete-topology'), {}, ({ who }) => who.length)
  expect(sinks.calls.map(({ who, hears }) => [who, ...hears.toSorted()])).toEqual([
    ['alpha'],
    ['beta', 'alpha: 5'],
    ['gamma', 'alpha: 5', 'beta: 4'],
    ['delta', 'alpha: 5', 'beta: 4', 'gamma: 5'],
    ['finalizer', 'delta: 5'],
  ])
  expect(sinks.answer).toBe('9')
  const all = await runOrganisation(called('complete-topology'), { finalizer: 'summarizer-of-all' }, () => 1)
  expect(all.calls.at(-1)).toMatchObject({ who: 'finalizer' })
  expect(all.calls.at(-1)!.hears).toHaveLength(4)
})

test('tree: heap order, roles from a leaf to the root', async () => {
  // Heap: 0 hears 1 and 2, 1 hears 3 and 4, 2 hears 5. Unit k is heap 5 - k.
  expect(await edges('Tree', 6)).toEqual([
    ['alpha'],
    ['beta'],
    ['gamma'],
    ['delta', 0],
    // omega may not be heard by anyone, but may hear beta and gamma.
    ['omega', 1, 2],
    ['alpha', 3],
  ])
})

test('tree: a parent hears its children, and the root speaks last', async () => {
  // Heap of four: 0 hears 1 and 2, 1 hears 3. alpha is 3, beta 2, gamma 1, delta 0.
  const { calls, answer } = await runOrganisation(called('tree-topology'), {}, ({ who }) => who.length)
  expect(calls.map(({ who, hears }) => [who, ...hears.toSorted()])).toEqual([
    ['alpha'],
    ['beta'],
    ['gamma', 'alpha: 5'],
    ['delta', 'beta: 4', 'gamma: 5'],
    ['finalizer', 'delta: 5'],
  ])
  expect(answer).toBe('9')
})

test('random: each unit draws which earlier ones it hears', async () => {
  const random = deriveRandom(1, 'random-topology', 'sum')
  const roles = ['alpha', 'beta', 'gamma', 'delta']
  const heard = roles.map((_, unit) => roles.slice(0, unit).filter(() => random.uniform() < 0.5))
  const { calls, answer } = await runOrganisation(called('random-topology'), {}, ({ who }) => who.length)
  const said = (role: string) => `${role}: ${role.length}`
  const asked = new Map(calls.map(({ who, hears }) => [who, hears.toSorted()]))
  for (const [unit, role] of roles.entries())
    expect(asked.get(role)).toEqual(heard[unit]!.map(said).toSorted())
  const sinks = roles.filter((role) => !heard.flat().includes(role))
  expect(asked.get('finalizer')).toEqual(sinks.map(said).toSorted())
  // Some edges were drawn, and some were not.
  expect(heard.flat().length % 6).toBeGreaterThan(0)
  expect(calls).toHaveLength(5)
  // Units hear only earlier ones.
  const place = new Map(calls.map(({ who }, at) => [who, at]))
  for (const [unit, role] of roles.entries())
    for (const one of heard[unit]!) expect(place.get(one)).toBeLessThan(place.get(role)!)
  expect(calls.at(-1)!.who).toBe('finalizer')
  expect(answer).toBe('9')
})

test('random: reproducible by seed and question', async () => {
  expect(await edges('Random', 5)).toEqual(await edges('Random', 5))
  const drawn = await Promise.all(Array.from({ length: 200 }, (_, id) => edges('Random', 4, `q${id}`)))
  const heard = drawn.flat().reduce((count, [, ...predecessors]) => count + predecessors.length, 0)
  // Six possible edges each.
  expect(Math.abs(heard / (200 * 6) - 0.5)).toBeLessThan(0.05)
})

test('edges that types forbid are dropped and reported, roles cycle, and sizes depend on the questions', async () => {
  const { about, calls, execution } = await runOrganisation(
    called('complete-topology'),
    { units: 7 },
    () => 1,
  )
  // omega, the fifth, would be heard by the sixth and seventh.
  expect(about).toEqual({ seed: 1, units: 7, leftOut: 2 })
  const roles = ['alpha', 'beta', 'gamma', 'delta', 'omega', 'alpha', 'beta']
  expect(execution.graph.units.map(({ role }) => role)).toEqual(roles)
  expect(calls).toHaveLength(8)
  const program = { ...sum, program: { mode: 'stdin', starterCode: '' } as const }
  const code = await runOrganisation(called('chain-topology'), {}, () => 1, { task: program })
  expect(code.execution.graph.size).toBe(5)
})
