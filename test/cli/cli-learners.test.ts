import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunFolder } from '../../src/store/run-folder.ts'
import { magic, magicProcess } from '../magic.ts'
import { learned } from '../tiny-training.ts'

const runs = mkdtempSync(join(tmpdir(), 'magic-cli-learners-'))
afterAll(() => rmSync(runs, { recursive: true, force: true }))

const questions = join(runs, 'ferries.jsonl')
writeFileSync(
  questions,
  Array.from({ length: 10 }, (_, index) => {
    const question = `A ferry makes ${index + 2} trips with ${index + 5} cars each. How many cars cross?`
    return `${JSON.stringify({ id: `ferry-${index}`, question, answer: String((index + 2) * (index + 5)) })}\n`
  }).join(''),
)

const systems = {
  gptswarm: 'gptswarm:iterations=5:batch=2',
  'r-gfm': 'r-gfm:questions=3:epochs=20:hidden=8:candidates=3',
}
const training = (system: keyof typeof systems, name: string) => [
  ...['train', questions, '--organisation', systems[system], '--encoder', 'lexical'],
  ...['--name', name, '--runs-dir', runs],
]

beforeAll(async () => {
  for (const system of Object.keys(systems) as (keyof typeof systems)[])
    expect(await magic(...training(system, system))).toMatchObject({ code: 0 })
})

describe.each([
  ['gptswarm', ['after:evaluation:3', 'after:events:2']],
  ['r-gfm', ['before:events:2', 'after:checkpoint:3']],
] as const)('%s', (system, places) => {
  test('killed twice, it is resumed to the same weights', async () => {
    const [first, second] = places
    const killed = await magicProcess({ env: { MAGIC_FAIL: first } }, ...training(system, `${system}-killed`))
    expect(killed.code).not.toBe(0)
    expect(killed.stdout).toBe('')
    const again = await magicProcess(
      { env: { MAGIC_FAIL: second } },
      'resume',
      `${system}-killed`,
      '--runs-dir',
      runs,
    )
    expect(again.stdout).toBe('')
    expect(await magic('resume', `${system}-killed`, '--runs-dir', runs)).toMatchObject({ code: 0 })
    const [one, other] = [learned(join(runs, `${system}-killed`)), learned(join(runs, system))]
    expect(one.weights.equals(other.weights)).toBe(true)
    expect(one.moments.equals(other.moments)).toBe(true)
    expect(one.trajectories).toBe(other.trajectories)
  })

  test('what it has learned is evaluated, asked, shown and exported in the policy’s place', async () => {
    const evaluated = await magic(
      ...[
        'eval',
        system,
        '--organisation',
        'trained,untrained,direct',
        '--limit',
        '4',
        '--json',
        '--runs-dir',
        runs,
      ],
    )
    expect(evaluated.code).toBe(0)
    expect(JSON.stringify(JSON.parse(evaluated.stdout))).toContain('"untrained"')
    const shown = await magic('show', system, '--runs-dir', runs)
    expect(shown.stdout).toContain(`${system}: `)
    expect(shown.stdout).not.toContain('NaN')
    const asked = await magic('ask', system, 'What is 2 + 3?', '--json', '--runs-dir', runs)
    expect(JSON.parse(asked.stdout)).toMatchObject({ status: 'answered', steps: [] })
    const archive = join(runs, `${system}.tgz`)
    const exported = await magic('export', system, '--to', archive, '--runs-dir', runs)
    expect(exported.code, exported.stderr).toBe(0)
    expect(existsSync(archive)).toBe(true)
    const again = await magic('ask', archive, 'What is 2 + 3?', '--json', '--runs-dir', runs)
    expect(JSON.parse(again.stdout).key).toBe(JSON.parse(asked.stdout).key)
  })
})

test('beside others it is named with the run that has trained it, and refused without', async () => {
  const refused = await magic(
    'eval',
    'r-gfm',
    '--organisation',
    'gptswarm',
    '--limit',
    '2',
    '--runs-dir',
    runs,
  )
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('gptswarm:run=NAME')
  const beside = await magic(
    ...['eval', 'r-gfm', '--organisation', `trained,gptswarm:run=${join(runs, 'gptswarm')}`, '--limit', '2'],
    ...['--runs-dir', runs, '--json'],
  )
  expect(beside.code, beside.stderr).toBe(0)
})

test('settings of policies mean nothing to it, and a cap ends it', async () => {
  const wrong = await magic(...training('gptswarm', 'wrong'), '--updates', '3')
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('Only policies have updates')
  const capped = await magic(...training('gptswarm', 'capped'), '--max-calls', '10')
  expect(capped.code).toBe(3)
  expect(new RunFolder(join(runs, 'capped')).checkpoints().at(-1)).toBeLessThan(5)
  expect(await magic('resume', 'capped', '--max-calls', '10000', '--runs-dir', runs)).toMatchObject({
    code: 0,
  })
  expect(learned(join(runs, 'capped')).weights.equals(learned(join(runs, 'gptswarm')).weights)).toBe(true)
})
