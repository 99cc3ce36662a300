import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { ReplayModel } from '../../src/models/recording.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { ownTaskSet } from '../../src/tasks/own/own-task-set.ts'
import { train } from '../../src/training/train.ts'
import { magicIn } from '../magic.ts'

// A run of an earlier version, stopped by its cap after two of six updates, with an evaluation, as it was
// left on disk, and the replies of that version's simulated model to the remaining requests.
const earlier = fileURLToPath(new URL('../__fixtures__/before-the-rebuild', import.meta.url))
// The final weights of the version that started the run.
const finalWeights = '09b9a46a7751bf78a2ebef6e3b66bfc584666a10b00e0616db1f71d5f0d94b08'

const folder = mkdtempSync(join(tmpdir(), 'magic-earlier-'))
cpSync(earlier, folder, { recursive: true })
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const magic = (...words: string[]) => magicIn(folder, ...words, '--runs-dir', '.')

test('a run of an earlier version can be shown, verified, asked and compared', async () => {
  const shown = await magic('show', 'half')
  expect(shown.stderr).toBe('')
  expect(shown.stdout).toContain('2 of 6')
  const verified = await magic('verify', 'half')
  expect(verified).toMatchObject({ code: 0 })
  expect(verified.stdout).toContain(
    'settings and history: not covered: the run was made by an earlier version',
  )
  expect(await magic('compare', 'half')).toMatchObject({ code: 0 })
  const asked = await magic('ask', 'half', 'What is 6 times 7?', '--json')
  expect(asked).toMatchObject({ code: 0 })
  expect(JSON.parse(asked.stdout)).toHaveProperty('answer')
})

test("it is not resumed with this version's simulated model, whose answers differ", async () => {
  const resumed = await magic('resume', 'half', '--max-calls', '10000')
  expect(resumed).toMatchObject({ code: 2 })
  expect(resumed.stderr).toContain('model.options.version was 1 and is 2')
})

test('it resumes from recorded replies of the earlier version to the same weights', async () => {
  const replies = join(folder, 'replies.jsonl')
  writeFileSync(replies, gunzipSync(readFileSync(`${replies}.gz`)))
  const { training, execution, concurrency } = new RunFolder(join(folder, 'half')).readRecord()
  const finished = await train({
    set: await ownTaskSet({ files: join(folder, 'questions.jsonl') }),
    model: await ReplayModel.open(replies),
    folder: join(folder, 'half'),
    resume: true,
    settings: training,
    budget: { calls: 10_000 },
    encoder: lexicalEncoder,
    execution,
    concurrency,
  })
  expect(finished).toMatchObject({ status: 'finished', done: 6 })
  const weights = readFileSync(join(folder, 'half/checkpoints/update-000006/policy.safetensors'))
  expect(createHash('sha256').update(weights).digest('hex')).toBe(finalWeights)
  const verified = await magic('verify', 'half')
  expect(verified).toMatchObject({ code: 0 })
  expect(verified.stdout).toContain('settings and history: unchanged since the checkpoint of update 6')
})
