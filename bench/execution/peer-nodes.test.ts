import { describe, expect, test } from 'vitest'
import type { ChatRequest } from '../../src/models/chat-model.ts'
import type { Engine } from './engine.ts'
import { FakeModel, WatchedModel } from './fake-model.ts'
import { magicEngine } from './magic-engine.ts'
import { levelsOf, peerNodes } from './peer-nodes.ts'
import { promisesEngine } from './promises-engine.ts'
import { criticalPath, type ShapeName, shapeNames, shapes } from './shapes.ts'

async function requestsOf(engine: Engine, shape: ShapeName): Promise<string[]> {
  const seen: ChatRequest[] = []
  const model = new WatchedModel(new FakeModel(0), (request) => seen.push(request))
  const result = await engine.prepare(shapes[shape], model)()
  expect(engine.answerOf(result)).toBe('A')
  return seen.map(({ system, user, decoding }) => JSON.stringify({ system, user, decoding })).sort()
}

describe('work given to peer engines', () => {
  test.each(shapeNames)('%s: requests match our engine byte for byte', async (shape) => {
    expect(await requestsOf(promisesEngine, shape)).toEqual(await requestsOf(magicEngine, shape))
  })

  test.each(shapeNames)('%s: has one level per call on the critical path', (shape) => {
    const nodes = peerNodes(shapes[shape], new FakeModel(0))
    const levels = levelsOf(nodes)
    expect(levels).toHaveLength(criticalPath(shapes[shape]))
    expect(levels.flat().toSorted((a, b) => a - b)).toEqual([...nodes.keys()])
    const levelOf = (node: number) => levels.findIndex((level) => level.includes(node))
    for (const [node, { predecessors }] of nodes.entries())
      for (const predecessor of predecessors) expect(levelOf(predecessor)).toBeLessThan(levelOf(node))
  })

  test('the last node is the finalizer', () => {
    expect(peerNodes(shapes.mixed, new FakeModel(0)).map(({ id }) => id)).toEqual([
      'u0',
      'u1.w0',
      'u1.w1',
      'u1.w2',
      'u1.aggregator',
      'u2',
      'finalizer',
    ])
  })
})
