import { expect, test } from 'vitest'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { LearningWorld, Purse, PurseEmpty } from './world.ts'

test('a purse pays for each graph-question pair once and never overspends', async () => {
  const world = await LearningWorld.open(3, { train: 4, test: 4 })
  const purse = new Purse(world, 2)
  const [first, second, third] = world.questions.queries.map(({ id }) => id)
  const once = await purse.evaluate(AgentGraph.empty, first!)
  expect(await purse.evaluate(AgentGraph.empty, first!)).toEqual(once)
  expect(once.usage!.tokens).toBeGreaterThan(0)
  await purse.evaluate(AgentGraph.empty, second!)
  await expect(purse.evaluate(AgentGraph.empty, third!)).rejects.toThrow(PurseEmpty)
  expect(await purse.evaluate(AgentGraph.empty, first!)).toEqual(once)
  expect(purse.spent).toBe(2)
  // Another method has its own purse and sees the same result.
  expect(await new Purse(world, 1).evaluate(AgentGraph.empty, first!)).toEqual(once)
})
