import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { isOpenToAll } from '../../test/attacks/open-to-all.ts'
import { type TraceReport, traceReport } from '../../test/attacks/traces.ts'
import { oneAtATime } from '../../test/one-at-a-time.ts'

oneAtATime()

// `npm run test:faults` runs a thousand pairs as each user, `npm test` a tenth of that.
const script = fileURLToPath(new URL('../../test/attacks/traces.ts', import.meta.url))
const canDrop = process.getuid?.() === 0 && isOpenToAll(script) && isOpenToAll(process.execPath)
const pairs = process.env['MAGIC_TEST_FAULTS'] === 'all' ? 1000 : 100

function expectNothing({ enumerated, enumeratedWritable, seen, seenWithThread, shared }: TraceReport): void {
  // More than a thousand names, more than a thousand attempts, and none succeeded.
  expect(enumerated).toBe('True True []\n')
  // In a sandbox with a writable /tmp, which serves a single program, only /tmp.
  expect(enumeratedWritable.replace(/\('[a-z ]+', '\/tmp'\)(?:, )?/g, '')).toBe('True True []\n')
  expect(seen).toHaveLength(1)
  expect(seenWithThread).toHaveLength(1)
  expect(seen[0]).toMatch(/^\[\[\[.*\]\n$/)
  // In the other pairs the first program made threads, so its case was the last of its sandbox.
  expect(shared).toBeGreaterThan(pairs / 2)
}

describe('a program leaves nothing behind for the next one', { timeout: 1_200_000 }, () => {
  test('as the test user', async () => {
    expectNothing(await traceReport(pairs))
  })

  test.skipIf(!canDrop)('as an unprivileged user', async () => {
    const drop = ['--reuid=54321', '--regid=54321', '--clear-groups', '--no-new-privs']
    const options = { env: { PATH: '/usr/bin:/bin' }, maxBuffer: 2 ** 26 }
    const command = [...drop, process.execPath, script, String(pairs)]
    const { stdout } = await promisify(execFile)('setpriv', command, options)
    const report = JSON.parse(stdout) as TraceReport & { uid: number }
    expect(report.uid).toBe(54_321)
    expectNothing(report)
  })
})
