import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { tinySettings, trainTiny } from '../../test/tiny-training.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { organisationsOf } from '../evaluation/named-organisation.ts'
import { graphKey } from '../graph/graph-key.ts'
import { RunFolder } from '../store/run-folder.ts'
import { rebuiltConstruction } from './rebuilt-construction.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-rebuilt-'))
const { tasks } = tinyTaskSet.splits['test']!
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** The paper samples at use; a policy trained by values takes its most probable choices. */
const uses = { 'the paper’s use': {}, 'a policy that never samples': { useTemperature: 0 } }

describe.each(Object.entries(uses))('%s', (name, more) => {
  const folder = new RunFolder(join(work, name))
  beforeAll(() => trainTiny(folder.path, { settings: { ...tinySettings, maxUnits: 3, ...more } }))

  test.each([
    ['trained', {}],
    ['trained', { seed: 7 }],
    ['trained', { update: 2 }],
    ['untrained', { seed: 7 }],
    ['most-probable', {}],
    ['atomic-at-use', { seed: 7 }],
    ['group-at-use', {}],
  ] as const)('%s with %j replays to its evaluated graphs', async (called, options) => {
    const open = organisationsOf(folder, { tasks, encoder: lexicalEncoder, ...options })
    const { organisation, about } = await open(called)
    if (!('graphFor' in organisation)) throw new Error(`${called} builds no graphs.`)
    for (const task of tasks) {
      const graph = await organisation.graphFor(task)
      const header = { organisation: organisation.name, about }
      const rebuilt = await rebuiltConstruction(folder, header, task, { graphKey: graphKey(graph) })
      expect(rebuilt).toMatchObject({ isSame: true, units: graph.units, update: about['update'] })
      expect(rebuilt.steps.length).toBeGreaterThanOrEqual(graph.units.length)
    }
  })

  test('a graph that differs from the recorded one is detected', async () => {
    const rebuilt = await rebuiltConstruction(folder, { organisation: 'trained', about: {} }, tasks[0]!, {
      graphKey: 'another',
    })
    expect(rebuilt.isSame).toBe(false)
  })

  test.each(['shuffled', 'searched', 'direct', 'chain'])(
    '%s has no decisions to replay',
    async (organisation) => {
      await expect(
        rebuiltConstruction(folder, { organisation, about: {} }, tasks[0]!, { graphKey: '' }),
      ).rejects.toThrow(/^No policy built this graph/)
    },
  )
})
