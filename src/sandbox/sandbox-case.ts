import { type CaseReport, noReport, parseMessage } from './case.ts'
import type { Frame } from './frames.ts'

// How long to wait beyond the program's own limit for a runner that should have stopped it.
const graceSeconds = 2

/** What a case needs of its sandbox. */
interface Runner {
  stop(): void
  /** Called if it no longer answers. */
  kill(): void
}

/** A running case, as reported by its runner. */
export class SandboxCase {
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<CaseReport>
  readonly #finish: (report: CaseReport) => void
  readonly #runner: Runner
  readonly #stretch: number
  readonly #messages: unknown[] = []
  #news = Promise.withResolvers<void>()
  #hasEnded = false
  #timer: NodeJS.Timeout | undefined

  /**
   * `seconds`: when its runner must have ended it; undefined for a program called by tests, which take their time.
   * `stretch`: factor by which wall-clock time is stretched.
   */
  constructor(seconds: number | undefined, stretch: number, runner: Runner) {
    const { promise, resolve } = Promise.withResolvers<CaseReport>()
    this.ended = promise
    this.#finish = resolve
    this.#runner = runner
    this.#stretch = stretch
    if (seconds !== undefined) this.#expectEnd(seconds)
  }

  /** The next message, or undefined if there will be none. */
  async message(): Promise<unknown> {
    while (this.#messages.length === 0 && !this.#hasEnded) await this.#news.promise
    return this.#messages.shift()
  }

  stop(): Promise<CaseReport> {
    if (!this.#hasEnded) {
      this.#expectEnd(0)
      this.#runner.stop()
    }
    return this.ended
  }

  /** False for something a runner never sends: its sandbox can no longer be trusted. */
  receive({ kind, payload }: Frame): boolean {
    if (this.#hasEnded) return false
    if (kind === 'U') {
      // Unparseable messages come from the program; they count as a message nobody understands.
      this.#messages.push(parseMessage(payload) ?? null)
      this.#wake()
      return true
    }
    const report = kind === 'E' ? readReport(payload) : undefined
    if (report === undefined) return false
    this.finish({ ...report, wallSeconds: report.wallSeconds / this.#stretch })
    return true
  }

  finish(report: CaseReport): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#timer)
    this.#finish(report)
    this.#wake()
  }

  #wake(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers()
  }

  #expectEnd(seconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        this.finish(noReport('late'))
        this.#runner.kill()
      },
      (seconds + graceSeconds) * 1000,
    )
  }
}

/** One line of JSON from the runner, then raw standard output and standard error. */
function readReport(payload: Buffer): CaseReport | undefined {
  const line = payload.indexOf('\n')
  const facts = parseMessage(payload.subarray(0, line)) as
    | (CaseReport & { stdoutBytes: number; ready: boolean })
    | undefined
  // A case that ended before its program started has no result, unless we stopped it.
  if (facts === undefined || !(facts.ready || facts.end === 'stopped')) return undefined
  const { stdoutBytes, ready: _, ...report } = facts
  const output = payload.subarray(line + 1)
  const stdout = output.toString('utf8', 0, stdoutBytes)
  return { ...report, stdout, stderr: output.toString('utf8', stdoutBytes) }
}
