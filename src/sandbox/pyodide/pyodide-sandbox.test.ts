import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { oneAtATime } from '../../../test/one-at-a-time.ts'
import { paperLimits } from '../limits.ts'
import { SandboxPool } from '../pool.ts'
import { openProgramSandbox, PyodidePrograms, sandboxAvailability } from '../program-sandbox.ts'
import { SandboxUnavailable } from '../unavailable.ts'

oneAtATime()

// Loading Pyodide takes seconds of processor time, so these tests are few and do much each.
describe('Pyodide', { timeout: 120_000 }, () => {
  const programs = new PyodidePrograms()
  afterAll(() => programs.close())

  test('a program that writes to the report channel has no report, and disturbs nobody', async () => {
    const source = [
      'import gc',
      'for found in gc.get_objects():',
      "    if type(found).__name__ == 'JsFinder':",
      "        found.jsproxies.get('pyodide_js')._module.print('garbage')",
    ].join('\n')
    expect(await programs.run(source, '')).toMatchObject({ end: 'malformed' })
    expect(await programs.run('print(1)', '')).toMatchObject({ end: 'exit', stdout: '1\n' })
  })

  test('runs a program: output, input, exit status, errors', async () => {
    const source = 'import sys\nprint(int(input()) + int(input()))\nprint("é", file=sys.stderr)\nsys.exit(3)'
    expect(await programs.run(source, '40\n2\n')).toMatchObject({
      end: 'exit',
      code: 3,
      stdout: '42\n',
      stderr: 'é\n',
    })
    const failed = await programs.run('def f():\n    return 1 / 0\nf()', '')
    expect(failed).toMatchObject({ end: 'exit', code: 1, stdout: '' })
    expect(failed.stderr).toMatch(
      /^Traceback.*\n {2}File "<program>", line 3.*ZeroDivisionError: division by zero\n$/s,
    )
  })

  test('holds its limits', async () => {
    const loop = 'while True:\n    try:\n        while True: pass\n    except BaseException: pass'
    expect((await programs.run(loop, '')).end).toBe('wall')
    const flood = await programs.run('while True: print("x" * 1000)', '')
    expect(flood.end).toBe('output')
    expect(flood.stdout).toHaveLength(paperLimits.outputBytes)
    const errors = await programs.run('import sys\nwhile True: print("x" * 1000, file=sys.stderr)', '')
    expect(errors.end).toBe('output')
    expect(errors.stderr).toHaveLength(paperLimits.outputBytes)
    expect((await programs.run('x = bytearray(400 << 20)', '')).stderr).toContain('MemoryError')
  })

  test('has no files, network, processes or secrets of the host, even through JavaScript', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    process.env['PYODIDE_CANARY_KEY'] = 'canary-0815'
    const source = `
import asyncio, gc, os, socket, sys
def attempt(name, act):
    try:
        print(name, act())
    except BaseException as problem:
        print(name, "refused")
attempt("passwd", lambda: open("/etc/passwd").read())
attempt("environ", lambda: "canary" in str(dict(os.environ)))
attempt("connect", lambda: socket.create_connection(("127.0.0.1", ${port}), timeout=1))
attempt("fork", os.fork)
attempt("import js", lambda: __import__("js"))
# The bridge to JavaScript is still somewhere in memory: what can be done with it?
bridges = [o.jsproxies for o in gc.get_objects() if type(o).__name__ == "JsFinder"]
bridge = next((b["pyodide_js"] for b in bridges if "pyodide_js" in b), None)
print("bridge", bridge is not None)
attempt("new code", lambda: bridge.constructor.constructor("return 1")())
attempt("node files", lambda: bridge.mountNodeFS("/mnt", "/etc") or open("/mnt/passwd").read())
attempt("node sockets", lambda: asyncio.get_event_loop().run_until_complete(bridge.useNodeSockFS()))
attempt("packages", lambda: bridge.loadPackage("http://127.0.0.1:${port}/x.whl") and None)
`
    try {
      const report = await programs.run(source, '')
      await wait(500)
      expect(report.stderr).toBe('')
      expect(report.stdout.split('\n').slice(0, 8)).toEqual([
        'passwd refused',
        'environ False',
        'connect refused',
        'fork refused',
        'import js refused',
        'bridge True',
        'new code refused',
        'node files refused',
      ])
      expect(connections).toBe(0)
    } finally {
      delete process.env['PYODIDE_CANARY_KEY']
      server.close()
    }
  })

  test('does not start programs of the host', async () => {
    const trace = join(tmpdir(), `pyodide-escape-${process.pid}`)
    const report = await programs.run(`import os\nos.system("touch ${trace}")`, '')
    expect(report.end).not.toBe('late')
    expect(existsSync(trace)).toBe(false)
  })

  test('stops with its signal', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 200)
    await expect(programs.run('while True: pass', '', controller.signal)).rejects.toThrow('enough')
  })

  test('ends by itself when its parent is gone', async () => {
    const script = fileURLToPath(new URL('../../../test/attacks/loop-in-pyodide.ts', import.meta.url))
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const children = JSON.parse(
      String(await new Promise((resolve) => parent.stdout.once('data', resolve))),
    ) as number[]
    expect(children.length).toBeGreaterThan(0)
    parent.kill('SIGKILL')
    for (let tries = 0; tries < 2400 && children.some(isRunning); tries += 1) await wait(50)
    expect(children.filter(isRunning)).toEqual([])
  })
})

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('the sandbox of this machine', () => {
  test('is bubblewrap where it works', async () => {
    const availability = await sandboxAvailability(new SandboxPool())
    expect(availability).toMatchObject({
      kind: 'bubblewrap',
      found: [expect.stringMatching(/^bubblewrap \d/), expect.stringMatching(/^Python 3\.\d+/)],
    })
    const sandbox = await openProgramSandbox()
    expect(sandbox.kind).toBe('bubblewrap')
    expect((await sandbox.run('print(1)', '')).stdout).toBe('1\n')
  })

  test('is Pyodide where it does not, with the reason', async () => {
    const pool = new SandboxPool({ findHost: () => Promise.reject(new SandboxUnavailable('no bwrap')) })
    const availability = await sandboxAvailability(pool)
    expect(availability.kind).toBe('pyodide')
    expect(availability.problem?.message).toContain('no bwrap\nModel-written programs run only in a sandbox.')
    expect((await openProgramSandbox(pool)).kind).toBe('pyodide')
  })
})
