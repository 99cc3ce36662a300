import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LoggedServer } from './processes.ts'

// What a power loss would leave can only be inferred from the order of write and sync calls.
const work = mkdtempSync(join(tmpdir(), 'magic-durability-'))
const folder = join(work, 'run')
let server: LoggedServer
beforeAll(async () => {
  server = await LoggedServer.start(join(work, 'server.log'))
})
afterAll(async () => {
  await server.close()
  rmSync(work, { recursive: true, force: true })
})

interface Call {
  readonly name: string
  readonly text: string
}

/** System calls in the order they ended. */
function callsOf(trace: string): Call[] {
  const begun = new Map<string, Call>()
  return trace.split('\n').flatMap((line) => {
    const resumed = /^(\d+) +<\.\.\. \w+ resumed>/.exec(line)
    if (resumed !== null) return begun.get(resumed[1]!) ?? []
    const [, thread, name] = /^(\d+) +(\w+)\(/.exec(line) ?? []
    if (thread === undefined || name === undefined) return []
    const call = { name, text: line }
    if (!line.endsWith('<unfinished ...>')) return / = -1 /.test(line) ? [] : call
    begun.set(thread, call)
    return []
  })
}

const descriptorPath = ({ text }: Call) => /\((?:\d+)<([^>]*)>/.exec(text)?.[1]
const isSync = ({ name }: Call) => name === 'fsync' || name === 'fdatasync'
const isWrite = ({ name }: Call) => ['write', 'pwrite64', 'writev', 'pwritev', 'ftruncate'].includes(name)

const hasStrace = spawnSync('strace', ['-V']).status === 0

test.skipIf(!hasStrace && process.env.CI !== 'true')(
  'acknowledged data was synced; a renamed file was synced before, and its folder after',
  () => {
    mkdirSync(folder)
    const log = join(work, 'trace')
    const names = 'write,pwrite64,writev,pwritev,ftruncate,fsync,fdatasync,rename,renameat,renameat2'
    const script = new URL('train-run.ts', import.meta.url).pathname
    const words = ['-f', '-qq', '-y', '-s', '16', '-o', log, '-e', `trace=${names}`]
    const run = spawnSync('strace', [...words, process.execPath, script, folder, server.url], {
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(run.status).toBe(0)
    expect(existsSync(log)).toBe(true)
    const calls = callsOf(readFileSync(log, 'utf8'))
    const unsynced = new Set<string>()
    const renamed: string[] = []
    let commits = 0
    /** Folders with a changed name that is not on disk yet. */
    const changed = new Set<string>()
    for (const call of calls) {
      const path = descriptorPath(call)
      if (isSync(call) && path !== undefined) {
        unsynced.delete(path)
        changed.delete(path)
      } else if (isWrite(call) && path?.startsWith(folder)) unsynced.add(path)
      else if (isWrite(call) && /"(?:kept|evaluated) /.test(call.text)) {
        commits += 1
        expect([...unsynced].filter((file) => file.endsWith('ledger.sqlite-wal'))).toEqual([])
      } else if (call.name.startsWith('rename')) {
        const [from, to] = [...call.text.matchAll(/"([^"]*)"/g)].map(([, name]) => name!)
        if (from === undefined || to === undefined || !to.startsWith(folder) || to.endsWith('.removed'))
          continue
        expect([...unsynced].filter((file) => file.startsWith(from))).toEqual([])
        // Names changed earlier are on disk by now.
        expect([...changed]).toEqual([])
        changed.add(dirname(to))
        renamed.push(to)
      }
    }
    expect([...changed]).toEqual([])
    expect(commits).toBeGreaterThan(80)
    expect(renamed.map((path) => path.slice(folder.length + 1))).toEqual(
      expect.arrayContaining(['run.json', 'library.yaml', 'membership.json', 'checkpoints/update-000003']),
    )
  },
)
