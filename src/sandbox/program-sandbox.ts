// Where model-written programs run: bubblewrap, else Pyodide, else nowhere. There is no way without a sandbox.
import type { CaseReport } from './case.ts'
import { type Limits, paperLimits } from './limits.ts'
import { SandboxPool } from './pool.ts'
import { PyodideSandbox, pyodideFolder, pyodideMissing } from './pyodide/pyodide-sandbox.ts'
import { SandboxUnavailable } from './unavailable.ts'

export interface ProgramSandbox {
  readonly kind: 'bubblewrap' | 'pyodide'
  /** Runs a whole program. Throws a `SandboxFailure` or the signal's reason. */
  run(source: string, stdin: string, signal?: AbortSignal, limits?: Limits): Promise<CaseReport>
  /** For tests and scoring, which need more than whole programs. Only bubblewrap has it. */
  readonly pool?: SandboxPool
  /** Why it is not bubblewrap. */
  readonly problem?: SandboxUnavailable
}

export class BubblewrapPrograms implements ProgramSandbox {
  readonly kind = 'bubblewrap'
  readonly pool: SandboxPool

  constructor(pool: SandboxPool) {
    this.pool = pool
  }

  run(source: string, stdin: string, signal?: AbortSignal, limits = paperLimits): Promise<CaseReport> {
    return this.pool.job(signal, async (job) => {
      const sandbox = await job.open({ writableTmp: true })
      const running = sandbox.run({ mode: 'script', source, stdin }, limits)
      for (;;) {
        const event = await running.next()
        if (event.kind === 'end') return event.report
      }
    })
  }
}

export class PyodidePrograms implements ProgramSandbox {
  readonly kind = 'pyodide'
  readonly problem?: SandboxUnavailable
  readonly #sandbox = new PyodideSandbox()

  constructor(problem?: SandboxUnavailable) {
    if (problem !== undefined) this.problem = problem
  }

  run(source: string, stdin: string, signal?: AbortSignal, limits = paperLimits): Promise<CaseReport> {
    return this.#sandbox.run(source, stdin, limits, signal)
  }

  close(): void {
    this.#sandbox.close()
  }
}

export interface SandboxAvailability {
  readonly kind: 'bubblewrap' | 'pyodide' | 'none'
  /** Versions of what was found, for people to read. */
  readonly found: readonly string[]
  /** Why there is no bubblewrap, and what to do about it. */
  readonly problem?: SandboxUnavailable
}

/** Starts a sandbox and runs a program in it: what is merely installed may still not work here. */
export async function sandboxAvailability(pool: SandboxPool): Promise<SandboxAvailability> {
  try {
    const { bubblewrap, interpreter } = await pool.host()
    const { stdout } = await new BubblewrapPrograms(pool).run('print(6 * 7)', '')
    if (stdout !== '42\n')
      throw new SandboxUnavailable('bubblewrap started, but a program in it did not run.')
    return {
      kind: 'bubblewrap',
      found: [`bubblewrap ${bubblewrap.version}`, `Python ${interpreter.version}`],
    }
  } catch (problem) {
    if (!(problem instanceof SandboxUnavailable)) throw problem
    if (pyodideFolder() !== undefined) return { kind: 'pyodide', found: ['Pyodide'], problem }
    const both = new SandboxUnavailable(`${problem.reason} ${pyodideMissing}`)
    return { kind: 'none', found: [], problem: both }
  }
}

/** The best sandbox of this machine. Throws `SandboxUnavailable` where there is none. */
export async function openProgramSandbox(pool: SandboxPool = new SandboxPool()): Promise<ProgramSandbox> {
  const { kind, problem } = await sandboxAvailability(pool)
  if (kind === 'bubblewrap') return new BubblewrapPrograms(pool)
  if (kind === 'pyodide') return new PyodidePrograms(problem)
  throw problem
}
