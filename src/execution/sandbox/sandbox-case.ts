import { type CaseEvent, type CaseReport, noReport, parseMessage, type RunningCase } from './case.ts'
import type { Frame } from './frames.ts'

/** What a case needs of its sandbox. */
interface Line {
  send(kind: string, payload: string): void
  kill(): void
}

export class SandboxCase implements RunningCase {
  readonly #events: CaseEvent[] = []
  readonly #waiting: Array<(event: CaseEvent) => void> = []
  readonly #dialogue: boolean
  readonly #patienceSeconds: number
  readonly #line: Line
  #report: CaseReport | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(dialogue: boolean, patienceSeconds: number, line: Line) {
    this.#dialogue = dialogue
    this.#patienceSeconds = patienceSeconds
    this.#line = line
    this.#startTimer()
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

  receive({ kind, payload }: Frame): void {
    if (kind === 'U') {
      const message = parseMessage(payload)
      if (message === undefined) {
        this.finish(noReport('malformed'))
        this.#line.kill()
        return
      }
      if (this.#dialogue) clearTimeout(this.#timer)
      this.#emit({ kind: 'message', message })
    } else if (kind === 'E') {
      const report = readReport(payload)
      if (report === undefined) this.#line.kill()
      else this.finish(report)
    }
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
function readReport(payload: Buffer): CaseReport | undefined {
  const line = payload.indexOf('\n')
  const facts = parseMessage(payload.subarray(0, line)) as
    | (CaseReport & { stdoutBytes: number; ready: boolean })
    | undefined
  if (facts === undefined || !facts.ready) return undefined
  const { stdoutBytes, ready: _, ...report } = facts
  const output = payload.subarray(line + 1)
  return {
    ...report,
    stdout: output.toString('utf8', 0, stdoutBytes),
    stderr: output.toString('utf8', stdoutBytes),
  }
}
