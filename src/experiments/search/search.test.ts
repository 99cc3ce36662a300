import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { assertLegalGraph } from '../../graph/legality.ts'
import { drawCandidates } from '../../learning/search/candidates.ts'
import { deletionsOf } from '../../learning/search/pool.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { SearchRoute } from './route.ts'
import { StageAccount } from './stages.ts'

const space = { roles: tinyLibrary.space, restriction: 'mixed', maxUnits: 3, maxDepth: 4 } as const

test('whole batches are booked: a stage overshoots by less than one batch, and none is reached twice', () => {
  const costs = fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { maxLength: 60 })
  const steps = fc.array(fc.double({ min: 0.1, max: 4, noNaN: true }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(costs, steps, fc.integer({ min: 1, max: 5 }), (list, widths, cycle) => {
      const stages = widths.map((_, index) => widths.slice(0, index + 1).reduce((sum, one) => sum + one, 0))
      const account = new StageAccount(stages, cycle)
      for (const cost of list) {
        if (account.end !== undefined) break
        const before = account.spent
        for (const { stage, spent, overshoot, batches } of account.book(cost)) {
          expect(stage).toBeGreaterThan(before + 1e-9)
          expect(overshoot).toBeLessThanOrEqual(cost + 1e-9)
          expect(overshoot).toBeCloseTo(spent - stage, 12)
          expect(batches).toBe(account.batches)
        }
      }
      expect([...account.reached.slice(1).map(({ stage }) => stage), ...account.notReached]).toEqual(stages)
      if (account.end === 'finished') expect(account.spent).toBeGreaterThanOrEqual(stages.at(-1)! - 1e-9)
      if (account.end === 'stalled')
        expect(list.slice(0, account.batches).slice(-cycle)).toEqual(Array(cycle).fill(0))
    }),
  )
})

test('candidates are legal and distinct, the empty graph first; a slot is filled or reported', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 4 }),
      (seed, maxUnits, maxDepth) => {
        const limits = { ...space, maxUnits, maxDepth }
        const { graphs, shapes, leftOut } = drawCandidates(limits, deriveRandom(seed, 'search'))
        expect(graphs[0]!.size).toBe(0)
        expect(new Set(graphs.map(graphKey)).size).toBe(graphs.length)
        for (const graph of graphs) assertLegalGraph(graph, limits)
        expect(shapes).toHaveLength(graphs.length)
        expect(graphs.length + leftOut).toBe(8)
      },
    ),
  )
})

test('a deletion leaves a legal graph with one unit or edge less', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      for (const graph of drawCandidates(space, deriveRandom(seed, 'search')).graphs) {
        const edges = graph.units.reduce((sum, { predecessors }) => sum + predecessors.length, 0)
        const deletions = deletionsOf(graph)
        expect(deletions.length).toBeLessThanOrEqual(graph.size + edges)
        for (const deletion of deletions) {
          assertLegalGraph(deletion.graph, space)
          const isUnit = 'unit' in deletion.removed
          expect(deletion.graph.size).toBe(graph.size - (isUnit ? 1 : 0))
        }
      }
    }),
    { numRuns: 30 },
  )
})

test('an epoch teaches no question twice, and only searched ones that were answered correctly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 6 }), async (seed, questions) => {
      const scored = new Map<number, number>()
      const route = new SearchRoute({
        questions,
        stages: [3, 6, 6.5, 20],
        candidates: (question, batch) =>
          batch > 40 ? undefined : drawCandidates(space, deriveRandom(seed, question, batch)).graphs,
        async score(graph, question) {
          const score = deriveRandom(seed, 'score', question, graphKey(graph)).uniform() < 0.1 ? 1 : 0
          scored.set(question, Math.max(score, scored.get(question) ?? 0))
          return score
        },
        cost: () => 1,
      })
      for (let next = await route.next(); next !== undefined; next = await route.next())
        for (const { epoch, number } of next.stages) {
          const taught = epoch.map(({ question }) => question)
          expect(taught).toEqual([...new Set(taught)].sort((a, b) => a - b))
          expect(taught).toEqual(
            [...scored]
              .filter(([, best]) => best > 0)
              .map(([question]) => question)
              .sort((a, b) => a - b),
          )
          for (const { graph } of epoch) expect(graph.score).toBe(1)
          expect(number).toBeGreaterThan(0)
        }
    }),
    { numRuns: 15 },
  )
})
