import { type CaseReport, noReport, parseMessage } from './case.ts'
import type { Frame } from './frames.ts'

// How much longer than the program's own limit we wait for a runner that should have stopped it.
const graceSeconds = 2

/** What a case needs of its sandbox. */
interface Runner {
  stop(): void
  /** It does not answer any more. */
  kill(): void
}

/** One case under way, as its runner reports it. */
export class SandboxCase {
  /** Resolves when it has ended, however that came about. */
  readonly ended: Promise<CaseReport>
  readonly #finish: (report: CaseReport) => void
  readonly #runner: Runner
  readonly #stretch: number
  readonly #messages: unknown[] = []
  #news = Promise.withResolvers<void>()
  #hasEnded = false
  #timer: NodeJS.Timeout | undefined

  /**
   * `seconds`: after which its runner has ended it; undefined for a program that tests call, as they take their time.
   * `stretch`: how many of them count as one.
   */
  constructor(seconds: number | undefined, stretch: number, runner: Runner) {
    const { promise, resolve } = Promise.withResolvers<CaseReport>()
    this.ended = promise
    this.#finish = resolve
    this.#runner = runner
    this.#stretch = stretch
    if (seconds !== undefined) this.#expectEnd(seconds)
  }

  /** The next message, or undefined when there will be none. */
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

  /** False for what a runner never sends: its sandbox cannot be trusted any more. */
  receive({ kind, payload }: Frame): boolean {
    if (this.#hasEnded) return false
    if (kind === 'U') {
      // What cannot be parsed was written by the program, and is a message that nobody understands.
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

/** The runner's facts, one line of JSON, then standard output and standard error as they were. */
function readReport(payload: Buffer): CaseReport | undefined {
  const line = payload.indexOf('\n')
  const facts = parseMessage(payload.subarray(0, line)) as
    | (CaseReport & { stdoutBytes: number; ready: boolean })
    | undefined
  // A case that ended before its program began has no result, unless we stopped it.
  if (facts === undefined || !(facts.ready || facts.end === 'stopped')) return undefined
  const { stdoutBytes, ready: _, ...report } = facts
  const output = payload.subarray(line + 1)
  const stdout = output.toString('utf8', 0, stdoutBytes)
  return { ...report, stdout, stderr: output.toString('utf8', stdoutBytes) }
}
