// The supervisor's side of one sandbox: starts it, sends it cases, reads its reports, and makes sure that it ends. It
// also decides whether the sandbox may serve another program: only if every byte it sent was expected.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { descriptor, sandboxCommand } from './bubblewrap.ts'
import { type CaseReport, type CaseWork, caseCommand, noReport, roleOf } from './case.ts'
import { encodeFrame, type Frame, FrameReader } from './frames.ts'
import type { SandboxHost } from './host.ts'
import { hadToWait, type Limits } from './limits.ts'
import { SandboxCase } from './sandbox-case.ts'
import { caseFilter, staticFilter } from './seccomp.ts'
import { SandboxUnavailable } from './unavailable.ts'

const files = [
  'runner.py',
  'case.py',
  'frames.py',
  'lines.py',
  'confine.py',
  'plain_data.py',
  'program.py',
  'judge.py',
  'local_pairs.py',
  'zygote.py',
]
const startSeconds = 20
// An idle runner answers within a millisecond, on a busy machine within a second or two. Otherwise it was stopped or
// killed.
const wakeSeconds = 5
const longestErrorText = 4096
// The program exited, or we stopped it. After any other end the sandbox is not reused.
const quietEnds: readonly CaseReport['end'][] = ['exit', 'stopped']
const SIGKILL = 9

interface SandboxShape {
  readonly writableTmp: boolean
  /** Factor by which wall-clock time is stretched. */
  readonly stretch: number
  /** For tests: our end of the link to the sandbox of the programs they judge. */
  readonly link?: Socket
}

export class Sandbox {
  readonly #host: SandboxHost
  readonly #writableTmp: boolean
  readonly #stretch: number
  /** Whether it is for tests. Programs and the tests that judge them never share a sandbox. */
  readonly #forTests: boolean
  readonly #process: ChildProcess
  readonly #reader = new FrameReader()
  readonly #exited: Promise<void>
  #tests: Sandbox | undefined
  #firstProcess: number | undefined
  #errorText = ''
  /** Returns whether a frame was expected. */
  #onFrame: (frame: Frame) => boolean = () => false
  #onLost: () => void = () => {}
  #cases = 0
  #booted = false
  #busy = false
  #closed = false
  #odd = false
  #failed = false
  #starved = false

  private constructor(host: SandboxHost, { writableTmp, stretch, link }: SandboxShape) {
    this.#host = host
    this.#writableTmp = writableTmp
    this.#stretch = stretch
    this.#forTests = link !== undefined
    const command = sandboxCommand({ ...host, files, writableTmp, become: host.nextUser() })
    // Opened here, because the sandbox's user may not be able to read this folder.
    const sources = files.map((file) =>
      openSync(fileURLToPath(new URL(`./python/${file}`, import.meta.url)), 'r'),
    )
    try {
      this.#process = spawn(command.file, command.arguments, {
        // bubblewrap's first process would expose its environment to anyone who can read /proc.
        env: {},
        cwd: '/',
        stdio: ['pipe', 'ignore', 'pipe', 'pipe', link ?? 'pipe', 'pipe', 'pipe', ...sources],
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
    this.#stream(descriptor.filter).end(staticFilter(host.interpreter.architecture))
    this.#readInfo()
    this.#readErrors()
    this.#readReports()
  }

  /** Starts a sandbox for programs and waits until its runner is ready. Throws `SandboxUnavailable`. */
  static async start(host: SandboxHost, writableTmp: boolean, stretch = 1): Promise<Sandbox> {
    return Sandbox.#boot(Sandbox.#spawn(host, { writableTmp, stretch }))
  }

  static #spawn(host: SandboxHost, shape: SandboxShape): Sandbox {
    try {
      return new Sandbox(host, shape)
    } catch (problem) {
      // For example, too many open files or processes.
      throw new SandboxUnavailable(`bubblewrap could not be started: ${String(problem)}.`)
    }
  }

  static async #boot(sandbox: Sandbox): Promise<Sandbox> {
    const filter = Buffer.from(caseFilter(sandbox.#host.interpreter.architecture)).toString('hex')
    const boot = JSON.stringify({ serves: sandbox.#forTests ? 'judges' : 'programs', filter })
    sandbox.#booted = await sandbox.#answers('B', boot, startSeconds)
    if (sandbox.#booted) return sandbox
    await sandbox.close()
    throw new SandboxUnavailable(
      `bubblewrap did not start a sandbox: ${sandbox.#errorText.trim() || 'no message'}.`,
    )
  }

  /** The sandbox for the tests of its programs, linked to it and ended with it. Throws `SandboxUnavailable`. */
  async forTests(): Promise<Sandbox> {
    if (this.#tests !== undefined) return this.#tests
    const link = this.#stream(descriptor.link)
    try {
      this.#tests = Sandbox.#spawn(this.#host, { writableTmp: false, stretch: this.#stretch, link })
    } finally {
      link.destroy()
    }
    return Sandbox.#boot(this.#tests)
  }

  /** Whether the runner is alive and waiting for work. While idle, it may have been killed. */
  async isAwake(): Promise<boolean> {
    const both = [this.#answers('P', '', wakeSeconds), this.#tests?.isAwake() ?? true]
    return (await Promise.all(both)).every(Boolean)
  }

  async #answers(kind: string, payload: string, seconds: number): Promise<boolean> {
    if (this.#closed) return false
    const nonce = randomBytes(16)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#onFrame = (frame) => {
      const expected = frame.kind === 'R' && frame.nonce.equals(nonce)
      resolve(expected)
      this.#onFrame = () => false
      return expected
    }
    this.#onLost = () => resolve(false)
    const timer = setTimeout(() => resolve(false), seconds * 1000)
    this.#send(nonce, kind, payload)
    return promise.finally(() => clearTimeout(timer))
  }

  /** Runs one case. The next one may start when this one has ended. */
  run(work: CaseWork, { wallSeconds, ...others }: Limits): SandboxCase {
    if ((work.mode === 'judge') !== this.#forTests)
      throw new Error(`A sandbox for ${this.#forTests ? 'tests' : 'programs'} was asked for '${work.mode}'.`)
    if (this.#busy) throw new Error('A sandbox runs one case at a time.')
    const nonce = randomBytes(16)
    const stretch = this.#stretch
    const limits = { ...others, wallSeconds: stretch * wallSeconds }
    const running = new SandboxCase(roleOf(work) === 'judged' ? undefined : limits.wallSeconds, stretch, {
      stop: () => this.#send(nonce, 'S', ''),
      kill: () => void this.close(),
    })
    this.#busy = true
    this.#cases += 1
    void running.ended.then(({ end, code }) => {
      this.#busy = false
      this.#odd ||= !quietEnds.includes(end)
      // The filter prevents a program from killing itself with signal 9, so the system killed it.
      this.#failed ||= end === 'lost' || end === 'late' || (end === 'signal' && code === SIGKILL)
    })
    // The program cannot know the nonce, so anything without it is not from the runner.
    this.#onFrame = (frame) => frame.nonce.equals(nonce) && running.receive(frame)
    this.#onLost = () => running.finish(noReport('lost'))
    if (this.#closed) running.finish(noReport('lost'))
    else this.#send(nonce, 'C', caseCommand(work, limits, stretch))
    return running
  }

  /** A program that had to wait for a core got too little time, unless it was already given more. */
  noteWait(cpuSeconds: number, wallSeconds: number): void {
    this.#starved ||= this.#stretch === 1 && hadToWait(cpuSeconds, wallSeconds)
    this.#odd ||= this.#starved
  }

  get wasStarved(): boolean {
    return this.#starved
  }

  get cases(): number {
    return this.#cases
  }

  /**
   * Whether another program may use it: all cases ended well, nothing is under way or left in a pipe, the runner sent
   * nothing unexpected, no program could write a file, and time is not stretched.
   */
  get isClean(): boolean {
    const isOwn = !(this.#busy || this.#odd || this.#closed || this.#writableTmp || this.#stretch > 1)
    return isOwn && this.#reader.isEmpty && (this.#tests?.isClean ?? true)
  }

  /** Whether a case was ended from outside, so that its output is no result. */
  get hasFailed(): boolean {
    return this.#failed || (this.#tests?.hasFailed ?? false)
  }

  /** An idle sandbox must not keep the Node process from ending; one in use must. */
  keepsProcessAlive(does: boolean): void {
    const streams = this.#process.stdio as unknown as ReadonlyArray<Socket | null | undefined>
    const open = streams.filter((stream) => stream != null && !stream.destroyed)
    for (const handle of [this.#process, ...open]) {
      if (does) handle!.ref()
      else handle!.unref()
    }
    this.#tests?.keepsProcessAlive(does)
  }

  /** Kills everything in the sandbox and waits until it is gone. */
  async close(): Promise<void> {
    this.#closed = true
    this.keepsProcessAlive(true)
    const tests = this.#tests?.close()
    // The sandbox dies with its first process. Killing bubblewrap instead would orphan that process.
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      if (this.#firstProcess === undefined) this.#process.kill('SIGKILL')
      else signal(this.#firstProcess)
    }
    await Promise.all([this.#exited, tests])
  }

  #send(nonce: Buffer, kind: string, payload: string): void {
    this.#stream(descriptor.commands).write(encodeFrame(nonce, kind, payload))
  }

  #stream(index: number): Socket {
    // If there are no descriptors left, stdio is undefined, whatever the types say.
    const stream = (this.#process.stdio as ChildProcess['stdio'] | undefined)?.[index] as unknown as Socket
    // A broken pipe means that the sandbox has ended, which its exit also tells us.
    if (stream.listenerCount('error') === 0) stream.on('error', () => {})
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
