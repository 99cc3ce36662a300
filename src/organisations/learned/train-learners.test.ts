import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { narrowEncoder } from '../../../test/organisations/narrow-encoder.ts'
import { expectSameLearning, expectSameSpending, trainWithStops } from '../../../test/runs/same-training.ts'
import { tinyTaskSet } from '../../../test/tiny-task-set.ts'
import { trainTiny } from '../../../test/tiny-training.ts'
import type { Verification } from '../../evaluation/verification/verification.ts'
import { verify } from '../../evaluation/verification/verify.ts'
import { RunFolder } from '../../store/run-folder.ts'
import { learners } from './list.ts'

const encoder = narrowEncoder(12)
const work = mkdtempSync(join(tmpdir(), 'magic-learners-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** Small trainings of a second or two. */
const given: Readonly<Record<string, object>> = {
  gptswarm: { iterations: 4, batch: 2 },
  'g-designer': { iterations: 3, batch: 2 },
  'mas-router': { epochs: 1, batch: 8, costRate: 0, maxAgents: 3, hidden: 8 },
  'eib-learner': { iterations: 3, batch: 2, rounds: 2, hidden: 8 },
  'arg-designer': { questions: 4, epochs: 12, hidden: 8 },
  'go-agent': { questions: 2, epochs: 12 },
  'search-then-sft': { passes: 1, stages: 3, hidden: 8, maxUnits: 2 },
  'r-gfm': { questions: 3, epochs: 12, hidden: 8 },
}

describe.each(learners.map((definition) => [definition.name, definition] as const))(
  '%s',
  (name, definition) => {
    const options = definition.options.parse(given[name] ?? {})
    const organisation = {
      name,
      options: options as Record<string, number>,
      open: (means: Parameters<NonNullable<typeof definition.learner>>[0]) =>
        definition.learner!(means, options),
    }

    test('despite repeated kills and resumes it ends with the same weights, and verify agrees', async () => {
      const reference = join(work, `${name}-whole`)
      expect((await trainTiny(reference, { settings: {}, encoder, organisation })).status).toBe('finished')
      const folder = join(work, `${name}-stopped`)
      await trainWithStops(folder, (attempt) => 23 + 20 * attempt, { settings: {}, encoder, organisation })
      expectSameLearning(folder, reference)
      expectSameSpending(folder, reference)

      const found: Verification[] = []
      for await (const line of verify({ folder: new RunFolder(folder), set: tinyTaskSet, sandbox: null }))
        found.push(line)
      expect(found.filter(({ ok }) => !ok)).toEqual([])
    })
  },
)
