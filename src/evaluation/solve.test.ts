import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { tinyModel, trainTiny } from '../../test/tiny-training.ts'
import type { Tool } from '../execution/tools/tool.ts'
import { schemaContract } from '../library/answer-contract.ts'
import type { ChatModel, ChatRequest } from '../models/chat-model.ts'
import { exportRun } from '../store/exported-run.ts'
import { solve } from './solve.ts'
import { loadPolicy } from './trained-policy.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-solve-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const city = schemaContract({
  name: 'city',
  requirement: 'The answer is an object with the name of a "city".',
  example: { city: 'Rome' },
  schema: z.object({ city: z.string().min(2) }),
})

const weather: Tool<{ city: string }> = {
  name: 'weather',
  description: 'The weather in a city: {"city": "Rome"}.',
  payload: z.object({ city: z.string() }),
  run: async () => ({ status: 'ok', result: { weather: 'sunny' } }),
}

const [task] = tinyTaskSet.splits['test']!.tasks
const question = { question: 'Where does it rain?' }

/** Answers in the contract's form and records the requests. */
function listening(): { model: ChatModel; asked: ChatRequest[] } {
  const asked: ChatRequest[] = []
  const model: ChatModel = {
    identity: tinyModel.identity,
    async ask(request) {
      asked.push(request)
      return {
        ...(await tinyModel.ask(request)),
        ok: true,
        text: '{"analysis":"x","answer":{"city":"Oslo"}}',
      } as never
    },
  }
  return { model, asked }
}

beforeAll(async () => {
  const settings = { hidden: 8, trajectories: 2, probes: 1, maxUnits: 2, updates: 1 }
  await trainTiny(at('plain'), { settings, execution: { decoding: { temperature: 0.25 } } })
  const { profile } = tinyTaskSet
  await trainTiny(at('own-contract'), {
    settings,
    set: { ...tinyTaskSet, contractOf: () => city },
    model: listening().model,
  })
  await trainTiny(at('own-tool'), {
    settings,
    set: { ...tinyTaskSet, profile: { ...profile, tools: [...profile.tools, 'weather'] } },
    tools: [weather as Tool],
  })
})

test("uses the run's settings, from its folder alone", async () => {
  const policy = await loadPolicy(at('plain'))
  const { model, asked } = listening()
  await solve({ policy, task: task!, model })
  expect(asked[0]!.decoding.temperature).toBe(0.25)
})

test('a custom contract is restored from its JSON Schema', async () => {
  const policy = await loadPolicy(at('own-contract'))
  const { model, asked } = listening()
  const { answer } = await solve({ policy, task: question, model })
  expect(answer).toEqual({ city: 'Oslo' })
  expect(asked.some(({ system, user }) => `${system}${user}`.includes('an object with the name of a'))).toBe(
    true,
  )
})

test('a custom tool must be supplied, and is named when missing', async () => {
  const policy = await loadPolicy(at('own-tool'))
  const asked = solve({ policy, task: task!, model: tinyModel })
  await expect(asked).rejects.toThrow(
    "The run own-tool was trained with your own weather; a run's folder does not contain the code of tools. Pass it to `solve` in code (`tools: [weather]`)",
  )
  const { status } = await solve({ policy, task: task!, model: tinyModel, tools: [weather as Tool] })
  expect(status).toBe('answered')
})

test.each(['export', 'export.tgz'])('%s works in place of the run, and is small', async (name) => {
  const to = at(name)
  const { files, update } = await exportRun(at('own-contract'), { to })
  expect(update).toBe(1)
  expect(Object.keys(files)).toEqual([
    'checkpoints/update-000001/policy.safetensors',
    'checkpoints/update-000001/state.json',
    'contracts.json',
    'library.yaml',
    'run.json',
  ])
  const [whole, exported] = [await loadPolicy(at('own-contract')), await loadPolicy(to)]
  expect(exported.policy!.parameters.read()).toEqual(whole.policy!.parameters.read())
  const graphs = [whole, exported].map((policy) => policy.organisation().graphFor({ ...task!, id: 'x' }))
  expect((await graphs[1])!.units).toEqual((await graphs[0])!.units)
  expect((await solve({ policy: exported, task: question, model: listening().model })).answer).toEqual({
    city: 'Oslo',
  })
  await expect(exportRun(at('own-contract'), { to })).rejects.toThrow('already exists')
})

test('an archive that is not an export is refused and writes nothing outside its folder', async () => {
  const body = Buffer.from('x')
  for (const name of ['../evil.txt', '/tmp/evil.txt', 'run.json/../../evil.txt', 'other.txt']) {
    const file = at('bad.tgz')
    writeFileSync(file, gzipSync(await packTar([{ header: { name, size: 1 }, body }])))
    await expect(loadPolicy(file)).rejects.toThrow('is not an export of a run')
  }
  writeFileSync(at('bad.tgz'), 'not gzip')
  await expect(loadPolicy(at('bad.tgz'))).rejects.toThrow('is not an export of a run')
  await expect(loadPolicy(at('none.tgz'))).rejects.toThrow(
    `There is no ${at('none.tgz')}. \`magic export RUN`,
  )
  expect(existsSync(at('../evil.txt'))).toBe(false)
  expect(readdirSync(folder)).not.toContain('evil.txt')
})
