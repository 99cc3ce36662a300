import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { magicProcess } from '../magic.ts'

// Whole commands, possibly on a busy machine.

const root = mkdtempSync(join(tmpdir(), 'magic-unsettled-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const questions = Array.from({ length: 6 }, (_, n) =>
  JSON.stringify({ id: `q-${n}`, question: `What is ${n} times 7?`, answer: n * 7 }),
).join('\n')

function folder(name: string, configuration: string): string {
  const path = join(root, name)
  mkdirSync(path)
  writeFileSync(join(path, 'questions.jsonl'), questions)
  writeFileSync(join(path, 'magic.config.mjs'), configuration)
  return path
}

const training = [
  'train',
  '--name',
  'x',
  '--encoder',
  'lexical',
  '--updates',
  '2',
  '--set',
  'hidden=8',
  'maxUnits=2',
]

test.each([
  [
    'default',
    'export default new Promise(() => {})',
    /magic\.config\.mjs cannot be used \(.*\): its default export is a promise that never settles\.$/m,
  ],
  [
    'top-level',
    'await new Promise(() => {})\nexport default {}',
    /magic\.config\.mjs cannot be used \(.*\): it waits \(`await`\) outside of any function for a promise that never/,
  ],
  [
    'tasks',
    "export default { tasks: { name: 'mine', load: () => new Promise(() => {}) } }",
    /its `load` returned a promise that never settles/,
  ],
  [
    'scorer',
    "export default { tasks: 'questions.jsonl', scorer: () => new Promise(() => {}) }",
    /The scorer returned a promise that never settles, for the question 'What is \d times 7\?'\.$/m,
  ],
])(
  'a promise of %s that never settles is named, and the command exits with code 2',
  async (name, text, said) => {
    const { code, stderr } = await magicProcess({ cwd: folder(name, text) }, ...training)
    expect(stderr).toMatch(said)
    expect(stderr).not.toContain('unsettled top-level await')
    expect(code).toBe(2)
  },
)

test('the same in the middle of a run, which can be resumed once the scorer is fixed', async () => {
  // The source text never changes, so it is the same scorer: the file beside it says whether it works.
  const scorer = `import { existsSync } from 'node:fs'
let asked = 0
const isMended = () => existsSync(new URL('mended', import.meta.url))
export default {
  tasks: 'questions.jsonl',
  scorer: (answer, { answer: right }) => ++asked > 8 && !isMended() ? new Promise(() => {}) : Number(answer) === right,
}`
  const place = folder('mid-run', scorer)
  const stopped = await magicProcess({ cwd: place }, ...training)
  expect(existsSync(join(place, 'runs/x/run.json'))).toBe(true)
  expect(stopped.stderr).toContain('The scorer returned a promise that never settles')
  expect(stopped.code).toBe(2)
  writeFileSync(join(place, 'mended'), '')
  expect(await magicProcess({ cwd: place }, 'resume', 'x')).toMatchObject({ code: 0 })
  expect(await magicProcess({ cwd: place }, 'verify', 'x')).toMatchObject({ code: 0 })
})
