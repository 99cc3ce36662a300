import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A script in its own process, and the lines it printed. */
export class Child {
  readonly process: ChildProcess
  readonly ended: Promise<unknown>
  #said = ''

  constructor(script: URL, ...words: string[]) {
    this.process = spawn(process.execPath, [script.pathname, ...words], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.process.stdout!.on('data', (bytes: Buffer) => {
      this.#said += bytes
    })
    this.ended = once(this.process, 'close')
  }

  /** Complete lines only. */
  get lines(): string[] {
    return this.#said.split('\n').slice(0, -1)
  }

  async untilLines(count: number): Promise<void> {
    while (this.lines.length < count && this.process.exitCode === null && this.process.signalCode === null)
      await Promise.race([once(this.process.stdout!, 'data'), this.ended])
    if (this.lines.length < count) throw new Error(`The process ended after ${this.lines.length} lines.`)
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.ended
  }
}
