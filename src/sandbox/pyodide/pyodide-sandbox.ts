// Where bubblewrap is missing: CPython in WebAssembly, in a locked-down Node process, one per program. Slower, without
// a limit on processor time of its own, and only for whole programs.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type CaseReport, noReport } from '../case.ts'
import type { Limits } from '../limits.ts'
import { SandboxFailure, SandboxUnavailable, sandboxLost } from '../unavailable.ts'

const startSeconds = 30
const graceSeconds = 2
const wasmPageBytes = 65536
const longestReport = 2 ** 20
const mostAttempts = 3

const reportSchema = z.object({
  end: z.enum(['exit', 'wall', 'output']),
  code: z.number(),
  cpuSeconds: z.number(),
  stdout: z.string(),
  stderr: z.string(),
})

export const pyodideMissing = 'Pyodide is not installed (`npm install pyodide`).'

/** Where the package is, which is not installed unless somebody wants it. */
export function pyodideFolder(): string | undefined {
  try {
    const file = fileURLToPath(import.meta.resolve('pyodide'))
    return existsSync(file) ? realpathSync(dirname(file)) : undefined
  } catch {
    return undefined
  }
}

export class PyodideSandbox {
  /** Loading takes seconds, so the next process loads while this one is in use. */
  #spare: PyodideProcess | undefined

  /** Runs a program to its end. Throws a `SandboxFailure` when no attempt went well, or the signal's reason. */
  async run(source: string, stdin: string, limits: Limits, signal?: AbortSignal): Promise<CaseReport> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(source, stdin, limits, signal)
      } catch (problem) {
        if (!(problem instanceof SandboxFailure) || attempt === mostAttempts) throw problem
      }
    }
  }

  async #attempt(source: string, stdin: string, limits: Limits, signal?: AbortSignal): Promise<CaseReport> {
    signal?.throwIfAborted()
    const child = this.#spare ?? new PyodideProcess(limits.memoryBytes)
    this.#spare = undefined
    child.hold()
    const stop = () => child.kill()
    signal?.addEventListener('abort', stop)
    try {
      await child.ready
      this.#spare = new PyodideProcess(limits.memoryBytes)
      const report = await child.run(source, stdin, limits)
      signal?.throwIfAborted()
      return report
    } catch (problem) {
      signal?.throwIfAborted()
      throw problem
    } finally {
      signal?.removeEventListener('abort', stop)
      child.kill()
    }
  }

  close(): void {
    this.#spare?.kill()
    this.#spare = undefined
  }
}

class PyodideProcess {
  readonly ready: Promise<void>
  readonly #process: ChildProcess
  readonly #lines: Array<(line: string | undefined) => void> = []
  #errorText = ''
  #saidTooMuch = false

  constructor(memoryBytes: number) {
    const pyodide = pyodideFolder()
    if (pyodide === undefined) throw new SandboxUnavailable(pyodideMissing)
    // Compiled, this file and its neighbour end in another way.
    const neighbour = fileURLToPath(new URL('./pyodide-child.ts', import.meta.url))
    const child = realpathSync(neighbour.replace(/\.ts$/, extname(import.meta.url)))
    this.#process = spawn(
      process.execPath,
      [
        ...['--permission', `--allow-fs-read=${pyodide}/`, `--allow-fs-read=${child}`],
        '--disallow-code-generation-from-strings',
        `--wasm-max-mem-pages=${memoryBytes / wasmPageBytes}`,
        '--max-old-space-size=256',
        child,
        `${pyodide}/pyodide.mjs`,
      ],
      { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] },
    )
    for (const stream of this.#process.stdio) stream?.on('error', () => {})
    this.#process.stderr!.on('data', (chunk: Buffer) => {
      if (this.#errorText.length < 4096) this.#errorText += chunk
    })
    this.#readLines()
    this.ready = this.#nextLine(startSeconds).then((line) => {
      if (line !== undefined && 'ready' in JSON.parse(line)) return
      this.kill()
      throw new SandboxUnavailable(
        `Pyodide did not start: ${this.#errorText.trim().split('\n')[0] || 'no answer'}`,
      )
    })
    // A spare that fails does so when it is asked for.
    this.ready.catch(() => {})
    this.#eachHandle((handle) => handle.unref())
  }

  /** Keeps this process from ending while we wait; a spare does not. */
  hold(): void {
    this.#eachHandle((handle) => handle.ref())
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  async run(source: string, stdin: string, limits: Limits): Promise<CaseReport> {
    const started = performance.now()
    const work = { source, stdin, wallSeconds: limits.wallSeconds, outputBytes: limits.outputBytes }
    this.#process.stdin!.write(`${JSON.stringify(work)}\n`)
    const line = await this.#nextLine(limits.wallSeconds + graceSeconds)
    if (line === undefined) {
      const { exitCode, signalCode } = this.#process
      if (exitCode === null && signalCode === null) return { ...noReport('malformed'), end: 'wall' }
      // A program has no way to send a signal. Whatever else ended its process, it may have done itself.
      if (signalCode === 'SIGKILL' && !this.#saidTooMuch) throw sandboxLost()
      return noReport('malformed')
    }
    // A program may find a way to write to this channel: what is no report counts as none.
    const report = reportSchema.safeParse(parseJson(line)).data
    if (report === undefined) return noReport('malformed')
    return {
      ...report,
      end: report.end === 'exit' && report.cpuSeconds > limits.cpuSeconds ? 'cpu' : report.end,
      wallSeconds: (performance.now() - started) / 1000,
      peakBytes: 0,
    }
  }

  #readLines(): void {
    let text = ''
    this.#process.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.length > longestReport) {
        this.#saidTooMuch = true
        return this.kill()
      }
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        this.#lines.shift()?.(text.slice(0, end))
        text = text.slice(end + 1)
      }
    })
    const end = () => {
      for (const wait of this.#lines.splice(0)) wait(undefined)
    }
    this.#process.once('close', end)
    this.#process.once('error', end)
  }

  /** Undefined when the process ends first, or says nothing for so long. */
  #nextLine(seconds: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), seconds * 1000)
      timer.unref()
      this.#lines.push((line) => {
        clearTimeout(timer)
        resolve(line)
      })
    })
  }

  #eachHandle(act: (handle: { ref(): void; unref(): void }) => void): void {
    const streams = this.#process.stdio as unknown as Array<{ ref(): void; unref(): void }>
    for (const handle of [this.#process, ...streams.slice(0, 3)]) act(handle)
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
