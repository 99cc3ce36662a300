import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const module = new URL('./cursor.ts', import.meta.url).href

/** A process that hides the cursor and then does something. */
function start(then: string) {
  const program = `const { hideCursor } = await import(${JSON.stringify(module)})
    const release = hideCursor(process.stdout, () => {})
    ${then}`
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const hidden = '\u001b[?25l'
const shown = '\u001b[?25h'

test.each([
  ['when it is released', 'release()'],
  ['when the process ends', ''],
  ['when something throws', "process.on('uncaughtException', () => process.exit(1)); throw new Error('oh')"],
])('the cursor comes back %s', async (_, then) => {
  expect(await text(start(then).stdout)).toBe(hidden + shown)
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'the cursor comes back after %s, which still ends the process',
  async (name) => {
    // A second one that hides it must not be taken for someone who handles the signal.
    const child = start('hideCursor(process.stdout, () => {}); setInterval(() => {}, 1000)')
    const output = text(child.stdout)
    await once(child.stdout, 'data')
    child.kill(name)
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe(name)
    expect((await output).endsWith(shown)).toBe(true)
  },
)

test('a signal that others handle is theirs', async () => {
  const child = start(
    "process.on('SIGINT', () => { process.stdout.write('draining'); process.exit(130) }); setInterval(() => {}, 1000)",
  )
  const output = text(child.stdout)
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  expect(code).toBe(130)
  expect(await output).toBe(`${hidden}draining${shown}`)
})
