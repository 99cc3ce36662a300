import { type CaseEvent, type CaseReport, noReport, parseMessage, type RunningCase } from './case.ts'
import type { Frame } from './frames.ts'

/** What a case needs of its sandbox. */
interface Line {
  send(kind: string, payload: string): void
  kill(): void
}

// The program exited, or we stopped it. After any other end the sandbox is not used again.
const quietEnds: readonly CaseReport['end'][] = ['exit', 'stopped']

const SIGKILL = 9

export class SandboxCase implements RunningCase {
  readonly #events: CaseEvent[] = []
  readonly #waiting: Array<(event: CaseEvent) => void> = []
  readonly #dialogue: boolean
  readonly #patienceSeconds: number
  readonly #line: Line
  #report: CaseReport | undefined
  #timer: NodeJS.Timeout | undefined
  #replies = 0
  #allRepliesRead = false

  constructor(dialogue: boolean, patienceSeconds: number, line: Line) {
    this.#dialogue = dialogue
    this.#patienceSeconds = patienceSeconds
    this.#line = line
    this.#startTimer()
  }

  get hasEnded(): boolean {
    return this.#report !== undefined
  }

  /** Whether it has ended without trouble, and nothing of it is still on its way to the runner. */
  get leftNothing(): boolean {
    return this.#report !== undefined && quietEnds.includes(this.#report.end) && this.#allRepliesRead
  }

  /** Whether something outside the sandbox ended it. The filter keeps a program from killing itself with signal 9, so a
   * process that died of it was killed by the system. */
  get wasEndedFromOutside(): boolean {
    const { end, code } = this.#report ?? {}
    return end === 'lost' || end === 'late' || (end === 'signal' && code === SIGKILL)
  }

  next(): Promise<CaseEvent> {
    const event = this.#events.shift()
    if (event !== undefined) return Promise.resolve(event)
    if (this.#report !== undefined) return Promise.resolve({ kind: 'end', report: this.#report })
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  send(message: unknown): void {
    if (this.#report !== undefined) return
    this.#startTimer()
    this.#replies += 1
    this.#line.send('D', JSON.stringify(message))
  }

  async stop(): Promise<CaseReport> {
    if (this.#report === undefined) {
      this.#startTimer()
      this.#line.send('S', '')
    }
    for (;;) {
      const event = await this.next()
      if (event.kind === 'end') return event.report
    }
  }

  /** False for what a runner never sends: its sandbox cannot be trusted any more. */
  receive({ kind, payload }: Frame): boolean {
    if (this.#report !== undefined) return false
    if (kind === 'U') {
      const message = parseMessage(payload)
      if (message === undefined) {
        this.finish(noReport('malformed'))
        return false
      }
      if (this.#dialogue) clearTimeout(this.#timer)
      this.#emit({ kind: 'message', message })
      return true
    }
    const facts = kind === 'E' ? readFacts(payload) : undefined
    if (facts === undefined) return false
    this.#allRepliesRead = facts.replies === this.#replies
    this.finish(facts.report)
    return true
  }

  finish(report: CaseReport): void {
    if (this.#report !== undefined) return
    clearTimeout(this.#timer)
    this.#report = report
    this.#emit({ kind: 'end', report })
  }

  #emit(event: CaseEvent): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#events.push(event)
    else waiting(event)
  }

  #startTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.finish(noReport('late'))
      this.#line.kill()
    }, this.#patienceSeconds * 1000)
  }
}

/** The runner's facts, one line of JSON, then standard output and standard error as they were. */
function readFacts(payload: Buffer): { readonly report: CaseReport; readonly replies: number } | undefined {
  const line = payload.indexOf('\n')
  const facts = parseMessage(payload.subarray(0, line)) as
    | (CaseReport & { stdoutBytes: number; ready: boolean; replies: number })
    | undefined
  // A case that ended before its program began has no result, unless we stopped it.
  if (facts === undefined || !(facts.ready || facts.end === 'stopped')) return undefined
  const { stdoutBytes, replies, ready: _, ...report } = facts
  const output = payload.subarray(line + 1)
  const stdout = output.toString('utf8', 0, stdoutBytes)
  return { report: { ...report, stdout, stderr: output.toString('utf8', stdoutBytes) }, replies }
}
