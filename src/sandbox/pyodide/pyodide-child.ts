// The process in which Pyodide runs one program, where bubblewrap is missing. Node's permission model and flags of the
// parent keep it from files, processes, threads and new code; this file takes away what they leave: network, signals
// and further modules. Python can reach JavaScript objects, so nothing that is left may do harm.
import dgram from 'node:dgram'
import dns from 'node:dns'
import { constants } from 'node:fs'
import { registerHooks } from 'node:module'
import net from 'node:net'
import vm from 'node:vm'
import type { loadPyodide as LoadPyodide } from 'pyodide'

interface Work {
  readonly source: string
  readonly stdin: string
  readonly wallSeconds: number
  readonly outputBytes: number
}

const { exit, cpuUsage, stdin, stdout } = process
const startOfProgram = `
import sys, traceback
def run(source):
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    for name in list(sys.modules):
        if name.split(".")[0] in ("js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core"):
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Js" not in type(finder).__name__]
    status = 0
    try:
        exec(compile(source, "<program>", "exec", dont_inherit=True), space)
    except SystemExit as leaving:
        code = leaving.code
        status = 0 if code is None else code & 0xFF if isinstance(code, int) else 1
        if not (code is None or isinstance(code, int)):
            print(code, file=sys.stderr)
    except BaseException as problem:
        traceback.print_exception(type(problem), problem, problem.__traceback__.tb_next)
        status = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return status
run
`

async function main(): Promise<void> {
  // Pyodide asks for these numbers in a way that the permission model refuses.
  Object.defineProperty(process, 'binding', { value: () => ({ fs: constants }) })
  const { loadPyodide } = (await import(process.argv[2]!)) as { loadPyodide: typeof LoadPyodide }
  const python = await loadPyodide({ jsglobals: Object.create(null) as object, env: { HOME: '/tmp' } })
  const run = python.runPython(startOfProgram) as (source: string) => number
  await tell({ ready: true })
  const work = JSON.parse(await readLine()) as Work

  const captured = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  let counted = 0
  const before = cpuUsage()
  const report = (end: string, code: number) => {
    const { user, system } = cpuUsage(before)
    const text = (name: 'stdout' | 'stderr') => Buffer.concat(captured[name]).toString('utf8')
    const facts = {
      end,
      code,
      cpuSeconds: (user + system) / 1e6,
      stdout: text('stdout'),
      stderr: text('stderr'),
    }
    return tell(facts).then(() => exit(0))
  }
  const collect = (name: 'stdout' | 'stderr') => ({
    write: (bytes: Uint8Array) => {
      // One limit for both: a flood on either is one.
      captured[name].push(bytes.slice(0, Math.max(0, work.outputBytes - counted)))
      counted += bytes.length
      if (counted > work.outputBytes) throw new Error('output limit')
      return bytes.length
    },
  })
  python.setStdout(collect('stdout'))
  python.setStderr(collect('stderr'))
  let unread: string | undefined = work.stdin
  python.setStdin({
    stdin: () => {
      const text = unread
      unread = undefined
      return text
    },
  })
  lockDown()

  // The engine's own watchdog ends the program, so it ends even where nobody is left to end this process.
  let code: number
  try {
    Object.assign(globalThis, { program: () => run(work.source) })
    code = vm.runInThisContext('program()', { timeout: work.wallSeconds * 1000 }) as number
  } catch (problem) {
    const timedOut = (problem as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
    return report(counted > work.outputBytes ? 'output' : timedOut ? 'wall' : 'exit', 1)
  }
  return report(counted > work.outputBytes ? 'output' : 'exit', code)
}

function lockDown(): void {
  const refuse = () => {
    throw new Error('not available in the sandbox')
  }
  registerHooks({ resolve: refuse, load: refuse })
  for (const [owner, names] of [
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [dgram, ['createSocket', 'Socket']],
    [dns, Object.keys(dns)],
  ] as const) {
    for (const name of names) Object.defineProperty(owner, name, { value: refuse, configurable: false })
  }
  for (const name of [
    'kill',
    '_kill',
    'abort',
    'binding',
    '_linkedBinding',
    'getBuiltinModule',
    'dlopen',
    'execve',
  ]) {
    Object.defineProperty(process, name, { value: refuse })
  }
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'process'])
    Reflect.deleteProperty(globalThis, name)
}

function tell(message: object): Promise<void> {
  return new Promise((resolve) => stdout.write(`${JSON.stringify(message)}\n`, () => resolve()))
}

function readLine(): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    stdin.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.endsWith('\n')) {
        stdin.pause()
        resolve(text)
      }
    })
    // Nobody is left to work for.
    stdin.once('end', () => exit(0))
  })
}

await main()
