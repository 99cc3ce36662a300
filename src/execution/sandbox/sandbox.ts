// The supervisor's side of one sandbox: starts it, hands it cases, reads its reports, and makes sure that it ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { descriptor, sandboxCommand } from './bubblewrap.ts'
import { type CaseWork, caseCommand, isDialogue, noReport, type RunningCase } from './case.ts'
import { encodeFrame, type Frame, FrameReader } from './frames.ts'
import type { SandboxHost } from './host.ts'
import type { Limits } from './limits.ts'
import { SandboxCase } from './sandbox-case.ts'
import { caseFilter, staticFilter } from './seccomp.ts'
import type { Architecture } from './syscalls.ts'
import { SandboxUnavailable } from './unavailable.ts'

const files = ['runner.py', 'case.py', 'frames.py', 'confine.py', 'plain_data.py', 'program.py', 'judge.py']
const startSeconds = 20
// How much longer than the program's own limit we wait for a runner that should have stopped it.
const graceSeconds = 2
const longestErrorText = 4096

export class Sandbox {
  readonly #process: ChildProcess
  readonly #commands: Writable
  readonly #exited: Promise<void>
  #firstProcess: number | undefined
  #errorText = ''
  #onFrame: (frame: Frame) => void = () => {}
  #onLost: () => void = () => {}
  #closed = false

  private constructor(host: SandboxHost, writableTmp: boolean) {
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
  static async start(host: SandboxHost, { writableTmp }: { writableTmp: boolean }): Promise<Sandbox> {
    let sandbox: Sandbox
    try {
      sandbox = new Sandbox(host, writableTmp)
    } catch (problem) {
      // Too many open files, too many processes.
      throw new SandboxUnavailable(`bubblewrap could not be started: ${String(problem)}.`)
    }
    if (await sandbox.#boot(host.interpreter.architecture)) return sandbox
    await sandbox.close()
    throw new SandboxUnavailable(
      `bubblewrap did not start a sandbox: ${sandbox.#errorText.trim() || 'no message'}.`,
    )
  }

  async #boot(architecture: Architecture): Promise<boolean> {
    const nonce = randomBytes(16)
    const { code, slots } = caseFilter(architecture)
    const boot = { filter: Buffer.from(code).toString('hex'), pidSlots: slots['pid'] }
    let timer: NodeJS.Timeout | undefined
    const ready = new Promise<boolean>((resolve) => {
      this.#onFrame = (frame) => resolve(frame.kind === 'R' && frame.nonce.equals(nonce))
      this.#onLost = () => resolve(false)
      timer = setTimeout(() => resolve(false), startSeconds * 1000)
    })
    this.#commands.write(encodeFrame(nonce, 'B', JSON.stringify(boot)))
    return ready.finally(() => clearTimeout(timer))
  }

  /** Runs one case. The next one may start when this one has ended. */
  run(work: CaseWork, limits: Limits): RunningCase {
    const nonce = randomBytes(16)
    const running = new SandboxCase(isDialogue(work), limits.wallSeconds + graceSeconds, {
      send: (kind, payload) => this.#commands.write(encodeFrame(nonce, kind, payload)),
      kill: () => void this.close(),
    })
    this.#onFrame = (frame) => {
      // The program cannot know the nonce, so what does not carry it is not from the runner.
      if (frame.nonce.equals(nonce)) running.receive(frame)
    }
    this.#onLost = () => running.finish(noReport('lost'))
    if (this.#closed) running.finish(noReport('lost'))
    else this.#commands.write(encodeFrame(nonce, 'C', caseCommand(work, limits)))
    return running
  }

  /** Ends everything in the sandbox and waits until it is gone. */
  async close(): Promise<void> {
    this.#closed = true
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
    // A sandbox that is gone shows as its end; the broken pipe says nothing more.
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
    })
  }

  #readReports(): void {
    const reader = new FrameReader()
    const report = this.#stream(descriptor.report)
    report.on('data', (chunk: Buffer) => {
      const frames = reader.push(chunk)
      if (frames === undefined) void this.close()
      else for (const frame of frames) this.#onFrame(frame)
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
