// Runs every attack in its own sandbox and prints the reports as JSON, for a user other than the test user.
import type { CaseReport } from '../../src/sandbox/case.ts'
import { paperLimits } from '../../src/sandbox/limits.ts'
import { SandboxPool } from '../../src/sandbox/pool.ts'
import { type Attack, attacks, honest, patientLimits } from './attacks.ts'

export function openPool(): SandboxPool {
  return new SandboxPool({ concurrency: 2, infrastructureSeconds: 600 })
}

export function runAttack(pool: SandboxPool, attack: Attack): Promise<CaseReport> {
  // Only attacks about time may reach a time limit.
  const limits = attack.end === 'time' || attack.end === 'wall' ? paperLimits : patientLimits
  return pool.job(undefined, async (job) => {
    const sandbox = await job.open({ writableTmp: attack.tmp === 'writable' })
    return sandbox.run({ mode: 'script', source: attack.source, stdin: '' }, limits).ended
  })
}

if (import.meta.main) {
  const pool = openPool()
  const here = [...attacks, ...honest].filter(
    (attack) => attack.only === undefined || attack.only === process.arch,
  )
  const reports = await Promise.all(
    here.map(async (attack) => [attack.name, await runAttack(pool, attack)] as const),
  )
  process.stdout.write(JSON.stringify({ uid: process.getuid?.(), reports: Object.fromEntries(reports) }))
}
