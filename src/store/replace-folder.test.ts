import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { currentFolder, replaceFolder } from './replace-folder.ts'

let root = ''
let folder = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'replace-folder-'))
  folder = join(root, 'kept')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const files = (...entries: [string, string][]) =>
  new Map(entries.map(([name, text]) => [name, new TextEncoder().encode(text)]))
const older = files(['a', 'old a'], ['b', 'old b'])
const newer = files(['a', 'new a, and longer'], ['c', 'new c'])

/** What a reader finds, or null. */
function found(): Record<string, string> | null {
  const place = currentFolder(folder)
  if (!existsSync(place)) return null
  return Object.fromEntries(readdirSync(place).map((name) => [name, readFileSync(join(place, name), 'utf8')]))
}

const textOf = (contents: ReadonlyMap<string, Uint8Array>) =>
  Object.fromEntries([...contents].map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]))

test('files appear under the name and replace all older ones', async () => {
  await replaceFolder(folder, older)
  expect(found()).toEqual(textOf(older))
  await replaceFolder(folder, newer)
  expect(found()).toEqual(textOf(newer))
  expect(readdirSync(root)).toEqual(['kept'])
})

test('missing parent folders are created', async () => {
  folder = join(root, 'deep', 'down', 'kept')
  await replaceFolder(folder, older)
  expect(found()).toEqual(textOf(older))
})

test('a trailing slash or a relative path names the same folder', async () => {
  await replaceFolder(`${folder}/`, older)
  await replaceFolder(join(root, 'x', '..', 'kept'), newer)
  expect(found()).toEqual(textOf(newer))
  expect(readdirSync(root)).toEqual(['kept'])
})

test('leftovers of a dead writer are removed', async () => {
  await replaceFolder(folder, older)
  for (const left of ['.kept.unfinished', '.kept.replaced']) {
    mkdirSync(join(root, left))
    writeFileSync(join(root, left, 'a'), 'half')
  }
  expect(found()).toEqual(textOf(older))
  await replaceFolder(folder, newer)
  expect(readdirSync(root)).toEqual(['kept'])
  expect(found()).toEqual(textOf(newer))
})

/** Every call that changes the disk. */
const calls = ['mkdirSync', 'openSync', 'fsyncSync', 'closeSync', 'renameSync', 'rmSync'] as const

/**
 * Makes the n-th disk call fail: once, as on a full disk, or with all that follow, as for a process killed
 * there. A failing write has written half. Returns whether there was an n-th call.
 */
async function withFault(at: number, kind: 'fails' | 'dies', action: () => Promise<void>): Promise<boolean> {
  const originals = calls.map((name) => [name, fs[name]] as const)
  const { writeFile } = fs.promises
  let count = 0
  const patched = fs as unknown as Record<string, (...given: unknown[]) => unknown>
  for (const [name, original] of originals) {
    patched[name] = (...given: unknown[]) => {
      count += 1
      const call = original as (...given: unknown[]) => unknown
      if (count === at || (kind === 'dies' && count > at)) throw new Error(`injected: call ${at}, ${name}`)
      return call(...given)
    }
  }
  fs.promises.writeFile = async (path, bytes, options) => {
    count += 1
    if (count === at) await writeFile(path, (bytes as Uint8Array).subarray(0, 2))
    if (count === at || (kind === 'dies' && count > at)) throw new Error(`injected: call ${at}, writeFile`)
    await writeFile(path, bytes, options)
  }
  syncBuiltinESMExports()
  try {
    await action()
  } catch (error) {
    // When a process dies, the system closes its files; here the descriptor leaks, which does no harm.
    expect((error as Error).message).toContain('injected')
  } finally {
    for (const [name, original] of originals) patched[name] = original as never
    fs.promises.writeFile = writeFile
    syncBuiltinESMExports()
  }
  return count >= at
}

describe.each(['fails', 'dies'] as const)('a disk call that %s', (kind) => {
  test.each([
    { there: 'an older folder', before: older },
    { there: 'nothing', before: undefined },
  ])('anywhere leaves old or new, complete, where there was $there', async ({ before }) => {
    const outcomes: string[] = []
    for (let at = 1; ; at += 1) {
      rmSync(root, { recursive: true, force: true })
      mkdirSync(root)
      if (before) await replaceFolder(folder, before)
      if (!(await withFault(at, kind, () => replaceFolder(folder, newer)))) break
      const state = found()
      const isNew = JSON.stringify(state) === JSON.stringify(textOf(newer))
      if (!isNew) expect(state, `after call ${at}`).toEqual(before ? textOf(before) : null)
      outcomes.push(isNew ? 'new' : 'old')
      if (kind === 'fails' && before) expect(existsSync(folder), 'it still has its name').toBe(true)
      // The next writer works as if nothing had happened.
      await replaceFolder(folder, older)
      expect(found()).toEqual(textOf(older))
      expect(readdirSync(root)).toEqual(['kept'])
    }
    // Old up to some call, new from then on.
    expect(outcomes.length).toBeGreaterThan(8)
    expect([...outcomes].sort().reverse()).toEqual(outcomes)
    expect(new Set(outcomes).size).toBe(2)
  })
})

test('files are synced before the rename, and the rename before old files are removed', async () => {
  await replaceFolder(folder, older)
  const order: string[] = []
  const patched = fs as unknown as Record<string, unknown>
  const originals = calls.map((name) => [name, fs[name]] as const)
  const paths = new Map<number, string>()
  const short = (path: unknown) => String(path).slice(root.length)
  for (const [name, original] of originals) {
    patched[name] = (...given: unknown[]) => {
      const result = (original as (...given: unknown[]) => unknown)(...given)
      if (name === 'openSync') paths.set(result as number, short(given[0]))
      else if (name === 'fsyncSync') order.push(`sync ${paths.get(given[0] as number)}`)
      else if (name === 'renameSync') order.push(`rename ${short(given[0])} ${short(given[1])}`)
      return result
    }
  }
  const { writeFile } = fs.promises
  fs.promises.writeFile = async (path, bytes, options) => {
    await writeFile(path, bytes, options)
    if ((options as { flush?: boolean }).flush) order.push(`sync ${short(path)}`)
  }
  syncBuiltinESMExports()
  try {
    await replaceFolder(folder, newer)
  } finally {
    for (const [name, original] of originals) patched[name] = original
    fs.promises.writeFile = writeFile
    syncBuiltinESMExports()
  }
  expect(order).toEqual([
    'sync /.kept.unfinished/a',
    'sync /.kept.unfinished/c',
    'sync /.kept.unfinished',
    'rename /kept /.kept.replaced',
    'rename /.kept.unfinished /kept',
    'sync ',
  ])
})
