import { type CaseEvent, type CaseReport, noReport, parseMessage, type RunningCase } from './case.ts'
import type { Frame } from './frames.ts'

/** What a case needs of its sandbox. */
interface Line {
  send(kind: string, payload: string): void
  kill(): void
}

// The program went by itself, or went when it was told to. After any other end its sandbox goes too, to be safe.
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

  /** Whether somebody else than the program or the runner ended it. No program can kill itself: that leaves the machine. */
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
  // Without the first line of its code, a program cannot have ended, but for our asking.
  if (facts === undefined || !(facts.ready || facts.end === 'stopped')) return undefined
  const { stdoutBytes, replies, ready: _, ...report } = facts
  const output = payload.subarray(line + 1)
  const stdout = output.toString('utf8', 0, stdoutBytes)
  return { report: { ...report, stdout, stderr: output.toString('utf8', stdoutBytes) }, replies }
}
