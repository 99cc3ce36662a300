// The supervisor's side of one sandbox: starts it, hands it cases, reads its reports, and makes sure that it ends. Whether
// it may serve another program is decided here too: only if every byte that it sent was expected.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { descriptor, sandboxCommand } from './bubblewrap.ts'
import {
  type CaseWork,
  caseCommand,
  isDialogue,
  noReport,
  type RunningCase,
  type Served,
  servedBy,
} from './case.ts'
import { encodeFrame, type Frame, FrameReader } from './frames.ts'
import type { SandboxHost } from './host.ts'
import type { Limits } from './limits.ts'
import { SandboxCase } from './sandbox-case.ts'
import { caseFilter, staticFilter } from './seccomp.ts'
import { SandboxUnavailable } from './unavailable.ts'

const files = [
  'runner.py',
  'case.py',
  'frames.py',
  'confine.py',
  'plain_data.py',
  'program.py',
  'judge.py',
  'local_pairs.py',
  'zygote.py',
]
const startSeconds = 20
// An idle runner answers within a millisecond. After a second, starting another sandbox is quicker than waiting.
const wakeSeconds = 1
// How much longer than the program's own limit we wait for a runner that should have stopped it.
const graceSeconds = 2
const longestErrorText = 4096

export interface SandboxOptions {
  readonly writableTmp: boolean
  readonly serves?: Served
}

export class Sandbox {
  readonly serves: Served
  readonly #writableTmp: boolean
  readonly #process: ChildProcess
  readonly #commands: Writable
  readonly #reader = new FrameReader()
  readonly #exited: Promise<void>
  #firstProcess: number | undefined
  #errorText = ''
  /** Says whether a frame was to be expected. */
  #onFrame: (frame: Frame) => boolean = () => false
  #onLost: () => void = () => {}
  #case: SandboxCase | undefined
  #cases = 0
  #booted = false
  #closed = false
  #odd = false
  #failed = false

  private constructor(host: SandboxHost, { writableTmp, serves = 'programs' }: SandboxOptions) {
    this.serves = serves
    this.#writableTmp = writableTmp
    const command = sandboxCommand({ ...host, files, writableTmp, become: host.nextUser() })
    // Opened here and not in the sandbox: its user may not be able to read the folder this file lies in.
    const sources = files.map((file) =>
      openSync(fileURLToPath(new URL(`./python/${file}`, import.meta.url)), 'r'),
    )
    try {
      const unused = 'ignore' as const
      this.#process = spawn(command.file, command.arguments, {
        // bubblewrap's own first process would show its environment to whoever can read /proc.
        env: {},
        cwd: '/',
        stdio: ['pipe', unused, 'pipe', 'pipe', unused, unused, unused, unused, 'pipe', 'pipe', ...sources],
      })
    } finally {
      for (const source of sources) closeSync(source)
    }
    this.#exited = new Promise((resolve) => {
      this.#process.once('close', () => resolve())
      this.#process.once('error', (problem) => {
        this.#errorText += problem.message
        resolve()
      })
    })
    this.#commands = this.#stream(descriptor.commands)
    this.#stream(descriptor.filter).end(staticFilter(host.interpreter.architecture).code)
    this.#readInfo()
    this.#readErrors()
    this.#readReports()
  }

  /** Starts a sandbox and waits until its runner is ready. Throws `SandboxUnavailable`. */
  static async start(host: SandboxHost, options: SandboxOptions): Promise<Sandbox> {
    let sandbox: Sandbox
    try {
      sandbox = new Sandbox(host, options)
    } catch (problem) {
      // Too many open files, too many processes.
      throw new SandboxUnavailable(`bubblewrap could not be started: ${String(problem)}.`)
    }
    const { code, slots } = caseFilter(host.interpreter.architecture)
    const filter = Buffer.from(code).toString('hex')
    const boot = JSON.stringify({ serves: sandbox.serves, filter, pidSlots: slots['pid'] })
    sandbox.#booted = await sandbox.#answers('B', boot, startSeconds)
    if (sandbox.#booted) return sandbox
    await sandbox.close()
    throw new SandboxUnavailable(
      `bubblewrap did not start a sandbox: ${sandbox.#errorText.trim() || 'no message'}.`,
    )
  }

  /** Whether the runner is there and waits for work. One that has been idle may have been killed by the machine. */
  isAwake(): Promise<boolean> {
    return this.#answers('P', '', wakeSeconds)
  }

  async #answers(kind: string, payload: string, seconds: number): Promise<boolean> {
    if (this.#closed) return false
    const nonce = randomBytes(16)
    let timer: NodeJS.Timeout | undefined
    const answered = new Promise<boolean>((resolve) => {
      this.#onFrame = (frame) => {
        const expected = frame.kind === 'R' && frame.nonce.equals(nonce)
        resolve(expected)
        this.#onFrame = () => false
        return expected
      }
      this.#onLost = () => resolve(false)
      timer = setTimeout(() => resolve(false), seconds * 1000)
    })
    this.#commands.write(encodeFrame(nonce, kind, payload))
    return answered.finally(() => clearTimeout(timer))
  }

  /** Runs one case. The next one may start when this one has ended. */
  run(work: CaseWork, limits: Limits): RunningCase {
    if (servedBy(work) !== this.serves)
      throw new Error(`A sandbox for ${this.serves} was asked for a case of ${servedBy(work)}.`)
    if (this.#case !== undefined) {
      if (!this.#case.hasEnded) throw new Error('A sandbox runs one case at a time.')
      this.#odd ||= !this.#case.leftNothing
      this.#failed ||= this.#case.wasEndedFromOutside
    }
    const nonce = randomBytes(16)
    const running = new SandboxCase(isDialogue(work), limits.wallSeconds + graceSeconds, {
      send: (kind, payload) => this.#commands.write(encodeFrame(nonce, kind, payload)),
      kill: () => void this.close(),
    })
    this.#case = running
    this.#cases += 1
    // The program cannot know the nonce, so what does not carry it is not from the runner.
    this.#onFrame = (frame) => frame.nonce.equals(nonce) && running.receive(frame)
    this.#onLost = () => running.finish(noReport('lost'))
    if (this.#closed) running.finish(noReport('lost'))
    else this.#commands.write(encodeFrame(nonce, 'C', caseCommand(work, limits)))
    return running
  }

  /** How many cases it has run. */
  get cases(): number {
    return this.#cases
  }

  /**
   * Whether another program may come: all cases have ended well, nothing is under way or left over in a pipe, the runner
   * has said nothing unasked, and no program could write a file.
   */
  get isClean(): boolean {
    const left = this.#case === undefined || this.#case.leftNothing
    return left && !this.#odd && !this.#closed && !this.#writableTmp && this.#reader.isEmpty
  }

  /** Whether a case in it did not come to an end of its own: what it told is no result. */
  get hasFailed(): boolean {
    return this.#failed || (this.#case?.wasEndedFromOutside ?? false)
  }

  /** An idle sandbox must not keep the Node process from ending; one in use must. */
  keepsProcessAlive(does: boolean): void {
    const streams = this.#process.stdio as unknown as ReadonlyArray<Socket | null | undefined>
    const open = streams.filter((stream) => stream != null && !stream.destroyed)
    for (const handle of [this.#process, ...open]) {
      if (does) handle!.ref()
      else handle!.unref()
    }
  }

  /** Ends everything in the sandbox and waits until it is gone. */
  async close(): Promise<void> {
    this.#closed = true
    this.keepsProcessAlive(true)
    // The sandbox dies with its first process. Killing bubblewrap instead would leave that one to the machine's init.
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      if (this.#firstProcess === undefined) this.#process.kill('SIGKILL')
      else signal(this.#firstProcess)
    }
    await this.#exited
  }

  #stream(index: number): Readable & Writable {
    // Without descriptors left there is no stdio at all, whatever the types say.
    const stream = (this.#process.stdio as ChildProcess['stdio'] | undefined)?.[index] as Readable & Writable
    // A broken pipe means that the sandbox has ended, which its exit tells us too.
    stream.on('error', () => {})
    return stream
  }

  #readInfo(): void {
    let text = ''
    this.#stream(descriptor.info).on('data', (chunk: Buffer) => {
      text += chunk
      const [, pid] = /"child-pid": (\d+)/.exec(text) ?? []
      if (pid === undefined || this.#firstProcess !== undefined) return
      this.#firstProcess = Number(pid)
      if (this.#closed) signal(this.#firstProcess)
    })
  }

  #readErrors(): void {
    this.#stream(descriptor.errors).on('data', (chunk: Buffer) => {
      if (this.#errorText.length < longestErrorText) this.#errorText += chunk
      this.#odd ||= this.#booted
    })
  }

  #readReports(): void {
    this.#stream(descriptor.report).on('data', (chunk: Buffer) => {
      const frames = this.#reader.push(chunk)
      if (frames === undefined || !frames.every((frame) => this.#onFrame(frame))) void this.close()
    })
    void this.#exited.then(() => {
      this.#closed = true
      this.#onLost()
    })
  }
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}
