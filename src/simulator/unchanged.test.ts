import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { requestOf, userMessage } from '../../test/simulated/requests.ts'
import { paperLibrary } from '../library/paper-library/paper-library.ts'
import { knownTasks } from './model/known-task.ts'
import { SimulatedModel } from './model/simulator.ts'
import { syntheticFamilies, syntheticTaskSet } from './questions/synthetic-task-set.ts'

// Runs are resumed and verified on questions and answers made by an earlier version. If a digest changes on
// purpose, rename the synthetic set or raise the simulated model's version. These are from version 2, where
// most of a question's hardness shows in its length.
const digestOf = (value: unknown) =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

const setOf = (family: (typeof syntheticFamilies)[number]) =>
  syntheticTaskSet({ seed: 3, train: 120, test: 80, families: [family] })

test('synthetic questions are unchanged', () => {
  const digests = syntheticFamilies.map((family) => [family, digestOf(knownTasks(setOf(family)))])
  expect(Object.fromEntries(digests)).toEqual({
    arithmetic: '9656b03b9428f737',
    choice: 'b51eb2be52dfe555',
    code: 'e14ea7b531c9e548',
    'table-arithmetic': 'dea95c488127c96d',
    'table-claim': '58378e5f84d1e567',
  })
})

test('answers to them are unchanged', () => {
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
    arithmetic: '76e8c475acbf9356',
    choice: 'bfadfc46b7dcefbe',
    code: '1e32532e7573aaf0',
    'table-arithmetic': '61483e435525458c',
    'table-claim': 'e65782b5dec8c0d3',
  })
})
