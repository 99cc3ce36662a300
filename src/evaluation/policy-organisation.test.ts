import { expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { libraryEmbeddings } from '../encoder/library-embeddings.ts'
import { queryEmbedding } from '../encoder/query-embedding.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { assertLegalGraph, type Restriction } from '../graph/legality.ts'
import type { Task } from '../library/task.ts'
import { deriveRandom } from '../numerics/random.ts'
import { constructGraphs } from '../policy/construction.ts'
import { ConstructionPolicy } from '../policy/policy.ts'
import { splitOf } from '../tasks/task-set.ts'
import {
  type PolicyOrganisation,
  type PolicyOrganisationOptions,
  policyOrganisation,
} from './policy-organisation.ts'

const { library } = tinyTaskSet
const policy = ConstructionPolicy.initialize(
  {
    dimensions: { semantic: lexicalEncoder.dims, hidden: 16, maxUnits: 3, maxDepth: 4 },
    roles: library.space,
    vectors: await libraryEmbeddings(library.texts, lexicalEncoder),
  },
  5,
)
const { tasks } = splitOf(tinyTaskSet, 'test')

function organisation(more: Partial<PolicyOrganisationOptions> = {}) {
  return policyOrganisation(policy, {
    name: 'untrained',
    description: 'A graph for each question.',
    restriction: 'mixed',
    temperature: 1,
    set: tinyTaskSet,
    encoder: lexicalEncoder,
    seed: 42,
    ...more,
  })
}

async function graphsOf(drawing: PolicyOrganisation, questions: readonly Task[] = tasks) {
  const graphs: AgentGraph[] = []
  for (const task of questions) graphs.push(await drawing.graphFor(task))
  return graphs
}

const texts = (graphs: readonly object[]) => graphs.map((graph) => JSON.stringify(graph))

test('is Procedure A2: no dropout, temperature 1, draws by seed and task id', async () => {
  const expected = await Promise.all(
    tasks.map(async (task) => {
      const query = await queryEmbedding(task, tinyTaskSet, lexicalEncoder)
      const random = deriveRandom(42, 'inference', task.id)
      return constructGraphs(policy, [
        { query, random, restriction: 'mixed', temperature: 1, dropout: false },
      ])[0]!.graph
    }),
  )
  expect(await graphsOf(organisation())).toEqual(expected)
})

test('a graph is the same alone and among others, in any order', async () => {
  const many: Task[] = Array.from({ length: 100 }, (_, index) => ({
    ...tasks[index % tasks.length]!,
    id: `question-${index}`,
  }))
  const together = await graphsOf(organisation(), many)
  const backwards = await graphsOf(organisation(), many.toReversed())
  expect(texts(backwards.toReversed())).toEqual(texts(together))
  for (const index of [99, 0, 50])
    expect(await organisation().graphFor(many[index]!)).toEqual(together[index])
  expect(new Set(texts(together)).size).toBeGreaterThan(20)
})

test('another seed draws other graphs', async () => {
  const [one, other] = [await graphsOf(organisation()), await graphsOf(organisation({ seed: 43 }))]
  expect(texts(one)).not.toEqual(texts(other))
})

test.each<Restriction>(['mixed', 'all-atomic', 'all-group'])('%s graphs are legal', async (restriction) => {
  for (const graph of await graphsOf(organisation({ restriction })))
    assertLegalGraph(graph, policy.space(restriction))
})

test('at a low temperature it takes the likeliest choice, whatever the seed', async () => {
  const at = (seed: number) => organisation({ seed, temperature: 1e-4 }).graphFor(tasks[0]!)
  expect(await at(1)).toEqual(await at(2))
})
