import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Attack, attacks, honest } from '../../test/attacks/attacks.ts'
import { isOpenToAll } from '../../test/attacks/open-to-all.ts'
import { openPool, runAttack } from '../../test/attacks/run-attacks.ts'
import { oneAtATime } from '../../test/one-at-a-time.ts'
import type { CaseReport } from './case.ts'
import { paperLimits } from './limits.ts'

const here = (attack: Attack) => attack.only === undefined || attack.only === process.arch

function expectHeld(attack: Attack, report: CaseReport): void {
  const ends = attack.end === 'time' ? ['cpu', 'wall'] : [attack.end]
  expect(ends, report.stderr.slice(-500)).toContain(report.end)
  if (attack.prints !== undefined) expect(report.stdout).toBe(attack.prints)
  expect(report.peakBytes).toBeLessThanOrEqual(288 * 2 ** 20)
  expect(report.stderr.length).toBeLessThanOrEqual(paperLimits.outputBytes)
  if (report.end === 'cpu') expect(report.cpuSeconds).toBeGreaterThanOrEqual(2)
  if (report.end === 'wall') expect(report.wallSeconds).toBeGreaterThanOrEqual(3)
}

oneAtATime()

describe('as the test user', () => {
  const pool = openPool()
  test.concurrent.each(attacks.filter(here))('$name', async (attack) =>
    expectHeld(attack, await runAttack(pool, attack)),
  )
  test.concurrent.each(honest)('honest: $name', async (attack) =>
    expectHeld(attack, await runAttack(pool, attack)),
  )
})

const runner = fileURLToPath(new URL('../../test/attacks/run-attacks.ts', import.meta.url))
const plainUser = 54_321

/** The same in a process of a user without privileges. Only root can become one. */
describe.skipIf(process.getuid?.() !== 0 || !isOpenToAll(runner) || !isOpenToAll(process.execPath))(
  'as an unprivileged user',
  () => {
    let reports: Record<string, CaseReport>

    beforeAll(async () => {
      const drop = [`--reuid=${plainUser}`, `--regid=${plainUser}`, '--clear-groups', '--no-new-privs']
      const { stdout } = await promisify(execFile)('setpriv', [...drop, process.execPath, runner], {
        env: { PATH: '/usr/bin:/bin' },
        maxBuffer: 2 ** 26,
      })
      const answer = JSON.parse(stdout) as { uid: number; reports: Record<string, CaseReport> }
      expect(answer.uid).toBe(plainUser)
      reports = answer.reports
    })

    test.each([...attacks.filter(here), ...honest])('$name', (attack) =>
      expectHeld(attack, reports[attack.name]!),
    )

    test('gets the same set order and random numbers as root', async () => {
      const same = honest.find((attack) => attack.name.startsWith('the same order'))!
      const report = await runAttack(openPool(), same)
      expect(reports[same.name]!.stdout).toBe(report.stdout)
    })
  },
)
