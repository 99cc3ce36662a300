import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type Facts, parseFacts } from './facts.ts'
import type { LoggedServerSettings } from './logged-server.ts'
import type { TrainRunSettings } from './small-training.ts'

const script = (name: string) => new URL(name, import.meta.url).pathname

/**
 * A request to the model: the digest of its body, the sender's key, and the time in milliseconds since 1970.
 */
export interface Ask {
  readonly digest: string
  readonly who: string
  readonly at: number
}

/** The simulated model in its own process, unaffected by a trainer's crash. */
export class LoggedServer {
  readonly url: string
  readonly #process: ChildProcess
  readonly #log: string

  private constructor(process: ChildProcess, url: string, log: string) {
    this.#process = process
    this.url = url
    this.#log = log
  }

  static async start(log: string, settings: LoggedServerSettings = {}): Promise<LoggedServer> {
    const words = [script('logged-server.ts'), log, JSON.stringify(settings)]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [bytes] = (await once(child.stdout!, 'data')) as [Buffer]
    return new LoggedServer(child, String(bytes).trim(), log)
  }

  /** Digests of the request bodies, answered or refused, in order. */
  log(what: 'asked' | 'answered' | 'refused'): string[] {
    return this.#lines(what).map(([digest]) => digest!)
  }

  /** All requests, in order. */
  asks(): Ask[] {
    return this.#lines('asked').map(([digest, who, at]) => ({ digest: digest!, who: who!, at: Number(at) }))
  }

  #lines(what: string): string[][] {
    const lines = readFileSync(this.#log, 'utf8').split('\n')
    return lines.map((line) => line.split(' ')).flatMap(([word, ...rest]) => (word === what ? [rest] : []))
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'close')
    this.#process.kill('SIGKILL')
    await ended
  }
}

export interface TrainerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly facts: Facts
  readonly errors: string
}

/** A training in its own process. */
export class Trainer {
  readonly process: ChildProcess
  readonly ended: Promise<TrainerEnd>
  #said = ''

  constructor(
    folder: string,
    url: string,
    settings: TrainRunSettings = {},
    environment: Readonly<Record<string, string>> = {},
  ) {
    const words = [script('train-run.ts'), folder, url, JSON.stringify(settings)]
    const env = { ...process.env, ...environment }
    this.process = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
    let errors = ''
    this.process.stdout!.on('data', (bytes: Buffer) => {
      this.#said += bytes
    })
    this.process.stderr!.on('data', (bytes: Buffer) => {
      errors += bytes
    })
    this.ended = once(this.process, 'close').then(([code, signal]) => ({
      code,
      signal,
      facts: this.facts,
      errors,
    }))
  }

  get facts(): Facts {
    return parseFacts(this.#said)
  }

  /** Sends a signal after this many calls, or when the training has ended before. */
  async signalAfter(asked: number, signal: NodeJS.Signals): Promise<void> {
    let isOver = false
    const over = this.ended.then(() => {
      isOver = true
    })
    while (!isOver && this.facts.asked.length < asked)
      await Promise.race([once(this.process.stdout!, 'data'), over])
    this.process.kill(signal)
  }
}
