// Where model-written programs run: in bubblewrap, or not at all.
import type { CaseReport } from './case.ts'
import { paperLimits } from './limits.ts'
import { SandboxPool } from './pool.ts'
import { SandboxUnavailable } from './unavailable.ts'

export class ProgramSandbox {
  readonly kind = 'bubblewrap'
  /** For tests and scoring, which do more than run whole programs. */
  readonly pool: SandboxPool

  constructor(pool: SandboxPool) {
    this.pool = pool
  }

  /**
   * Runs a whole program. Throws `SandboxFailure` or the signal's reason. A program that need not write files runs in
   * an existing sandbox, which starts about ten times as fast.
   */
  run(
    source: string,
    stdin: string,
    signal?: AbortSignal,
    limits = paperLimits,
    { writableTmp = true }: { readonly writableTmp?: boolean } = {},
  ): Promise<CaseReport> {
    return this.pool.job(signal, async (job) => {
      const sandbox = await job.open({ writableTmp })
      const report = await sandbox.run({ mode: 'script', source, stdin }, limits).ended
      if (report.end === 'wall') sandbox.noteWait(report.cpuSeconds, limits.wallSeconds)
      return report
    })
  }
}

/**
 * Starts a sandbox and runs a program in it, because what is installed may still not work. Returns the versions
 * found, for display, or what is missing and how to fix it.
 */
export async function sandboxAvailability(pool: SandboxPool): Promise<string[] | SandboxUnavailable> {
  try {
    const { bubblewrap, interpreter } = await pool.host()
    const { stdout } = await new ProgramSandbox(pool).run('print(6 * 7)', '')
    if (stdout !== '42\n')
      throw new SandboxUnavailable('bubblewrap started, but a program in it did not run.')
    return [`bubblewrap ${bubblewrap.version}`, `Python ${interpreter.version}`]
  } catch (problem) {
    if (problem instanceof SandboxUnavailable) return problem
    throw problem
  }
}

/** This machine's sandbox. Throws `SandboxUnavailable` if there is none. */
export async function openProgramSandbox(pool: SandboxPool = new SandboxPool()): Promise<ProgramSandbox> {
  const found = await sandboxAvailability(pool)
  if (found instanceof SandboxUnavailable) throw found
  return new ProgramSandbox(pool)
}
