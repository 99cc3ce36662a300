import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { requestOf, userMessage } from '../../test/simulated/requests.ts'
import { paperLibrary } from '../library/paper-library/paper-library.ts'
import { knownTasks } from './model/known-task.ts'
import { SimulatedModel } from './model/simulator.ts'
import { syntheticFamilies, syntheticTaskSet } from './questions/synthetic-task-set.ts'

// Runs are resumed and verified on questions and answers that an earlier version made. If a digest changes on purpose, the
// synthetic set needs another name or the simulated model another version.
const digestOf = (value: unknown) =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

const setOf = (family: (typeof syntheticFamilies)[number]) =>
  syntheticTaskSet({ seed: 3, train: 120, test: 80, families: [family] })

test('synthetic questions stay what they were', () => {
  const digests = syntheticFamilies.map((family) => [family, digestOf(knownTasks(setOf(family)))])
  expect(Object.fromEntries(digests)).toEqual({
    arithmetic: '8662fad7995c39a5',
    choice: 'c4b80a768c8d0e93',
    code: 'a4ce0e158c163d2e',
    'table-arithmetic': '04f1bcefe0500f13',
    'table-claim': 'a3c2ed9d21762ffb',
  })
})

test('and so do the answers to them', () => {
  const roles = [...paperLibrary.roles.map(({ id }) => id), 'math_checker', 'chef']
  const tools = ['calculator', 'public_code', 'table_reader']
  const digests = syntheticFamilies.map((family) => {
    const set = setOf(family)
    const model = new SimulatedModel({ tasks: knownTasks(set, ['train']), seed: 7 })
    const tasks = Object.values(set.splits).flatMap((split) => split.tasks)
    const replies = tasks.flatMap((task, index) => {
      const role = roles[index % roles.length]!
      const ask = (asking: object) =>
        model.complete(requestOf(userMessage(task, set.contractOf(task), { role, ...asking })))
      return [ask({ part: 'direct' }), ask({}), ask({ tools })]
    })
    return [family, digestOf(replies)]
  })
  expect(Object.fromEntries(digests)).toEqual({
    arithmetic: '3313a1044216a2ab',
    choice: '18344f780c8711d5',
    code: 'bff93822ac003699',
    'table-arithmetic': 'c75f7ff4fd715203',
    'table-claim': 'd196a4f04f7eebae',
  })
})
