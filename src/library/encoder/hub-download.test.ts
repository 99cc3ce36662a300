import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commit, gitDigest, HubServer } from '../../../test/hub-server.ts'
import { HubUnavailableError } from './hub-connection.ts'
import { type DownloadProgress, type HubOptions, hubFile } from './hub-download.ts'

const content = randomBytes(300_000)
const digest = createHash('sha256').update(content).digest('hex')
const file = { repository: 'org/model', revision: commit, path: 'onnx/model.onnx' }
const token = 'hf_secret'

let server: HubServer
let cache: string
let options: HubOptions & { environment: NodeJS.ProcessEnv }

beforeEach(async () => {
  server = await HubServer.start()
  server.large.set(file.path, content)
  cache = mkdtempSync(join(tmpdir(), 'hub-'))
  options = {
    environment: { HF_HUB_CACHE: cache, HF_ENDPOINT: server.endpoint, HF_TOKEN: token },
    retryMilliseconds: 1,
  }
})
afterEach(() => server[Symbol.asyncDispose]())

const inRepository = (...parts: string[]) => join(cache, 'models--org--model', ...parts)
const blob = inRepository.bind(null, 'blobs')
const offline = () => ({ ...options, environment: { ...options.environment, HF_HUB_OFFLINE: '1' } })

async function failureOf(work: Promise<unknown>): Promise<HubUnavailableError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(HubUnavailableError)
  expect((error as Error).message).not.toContain(token)
  return error as HubUnavailableError
}

describe('a download', () => {
  test('of a large file lies where Python looks for it, and is fetched once', async () => {
    const steps: DownloadProgress[] = []
    const path = await hubFile(file, { ...options, onProgress: (step) => steps.push(step) })
    expect(path).toBe(inRepository('snapshots', commit, 'onnx', 'model.onnx'))
    expect(readFileSync(path)).toEqual(content)
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(readlinkSync(path)).toBe(join('..', '..', '..', 'blobs', digest))
    expect(readdirSync(blob())).toEqual([digest])
    expect(steps.at(-1)).toEqual({ path: file.path, received: content.length, total: content.length })
    expect(existsSync(inRepository('refs'))).toBe(false)
    expect(await hubFile(file, options)).toBe(path)
    expect(server.downloads).toHaveLength(1)
  })

  test('of a small file is checked against git’s digest', async () => {
    const small = Buffer.from('{"a": 1}')
    server.small.set('config.json', small)
    const path = await hubFile({ ...file, path: 'config.json' }, options)
    expect(readFileSync(path)).toEqual(small)
    expect(readdirSync(blob())).toEqual([gitDigest(small)])
  })

  test('shows the token to the hub only, not to the storage on another port', async () => {
    await hubFile(file, options)
    for (const { server: kind, authorization } of server.seen)
      expect(authorization).toBe(kind === 'hub' ? `Bearer ${token}` : undefined)
    expect(new Set(server.seen.map(({ server: kind }) => kind))).toEqual(new Set(['hub', 'storage']))
  })

  test('follows a repository to its new name, token in hand', async () => {
    server.formerName = 'old/name'
    const path = await hubFile({ ...file, repository: 'old/name' }, options)
    expect(readFileSync(path)).toEqual(content)
    for (const { server: kind, authorization } of server.seen)
      expect(authorization).toBe(kind === 'hub' ? `Bearer ${token}` : undefined)
  })

  test('of a branch notes its commit, so that it can be found offline', async () => {
    const main = { ...file, revision: 'main' }
    await failureOf(hubFile(main, offline()))
    const path = await hubFile(main, options)
    expect(readFileSync(inRepository('refs', 'main'), 'utf8')).toBe(commit)
    expect(await hubFile(main, offline())).toBe(path)
  })
})

describe('an interruption', () => {
  /** Breaks the connection as soon as so many bytes are on disk. */
  const cutAt = (...sizes: number[]) => ({
    ...options,
    onProgress: ({ received }: DownloadProgress) => {
      if (sizes.includes(received)) server.cutStalled()
    },
  })

  test('is made good by fetching the rest', async () => {
    server.faults.push({ stallAfter: 100_000 }, { status: 503 }, { stallAfter: 50_000 })
    expect(readFileSync(await hubFile(file, cutAt(100_000, 150_000)))).toEqual(content)
    expect(server.downloads.map(({ range }) => range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=100000-',
      'bytes=150000-',
    ])
  })

  test('by a kill loses nothing that had arrived', async () => {
    server.faults.push({ stallAfter: 120_000 })
    const child = startChild()
    const incomplete = blob(`${digest}.magic.incomplete`)
    while (!existsSync(incomplete) || lstatSync(incomplete).size < 100_000) await setTimeout(10)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    const arrived = lstatSync(incomplete).size
    expect(readFileSync(await hubFile(file, options))).toEqual(content)
    expect(server.downloads.at(-1)!.range).toBe(`bytes=${arrived}-`)
    expect(readdirSync(blob())).toEqual([digest])
  })

  test('that comes again and again is given up, with what has arrived kept', async () => {
    server.faults.push(...new Array(6).fill({ stallAfter: 1000 }))
    const { transient } = await failureOf(hubFile(file, cutAt(1000, 2000, 3000, 4000, 5000, 6000)))
    expect(transient).toBe(true)
    expect(lstatSync(blob(`${digest}.magic.incomplete`)).size).toBe(6000)
    expect(readFileSync(await hubFile(file, options))).toEqual(content)
    expect(server.downloads.at(-1)!.range).toBe('bytes=6000-')
  })

  test.each([true, false])(
    'whose remains are damaged starts again (server knows ranges: %s)',
    async (ranges) => {
      server.ranges = ranges
      mkdirSync(blob(), { recursive: true })
      writeFileSync(blob(`${digest}.magic.incomplete`), 'x'.repeat(1000))
      expect(readFileSync(await hubFile(file, options))).toEqual(content)
      expect(server.downloads).toHaveLength(ranges ? 2 : 1)
    },
  )

  test.each([content.length, content.length + 1])(
    'whose remains are %s bytes, all wrong, starts again',
    async (size) => {
      mkdirSync(blob(), { recursive: true })
      writeFileSync(blob(`${digest}.magic.incomplete`), Buffer.alloc(size))
      expect(readFileSync(await hubFile(file, options))).toEqual(content)
    },
  )

  test('by the caller stops at once', async () => {
    server.faults.push({ stallAfter: 1000 })
    const controller = new AbortController()
    const reason = new Error('enough')
    const download = hubFile(file, {
      ...options,
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    })
    await expect(download).rejects.toBe(reason)
  })
})

test('several processes at once fetch a file once', async () => {
  const children = [startChild(), startChild()]
  const ends = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
  const paths = await Promise.all([hubFile(file, options), hubFile(file, options)])
  expect(await Promise.all(ends)).toEqual([0, 0])
  for (const path of paths) expect(readFileSync(path)).toEqual(content)
  expect(server.downloads).toHaveLength(1)
})

describe('what is wrong is never used', () => {
  test('contents with another digest than the hub says', async () => {
    server.lies = { 'x-linked-etag': `"${'0'.repeat(64)}"` }
    expect((await failureOf(hubFile(file, options))).message).toMatch(/wrong digest/)
    expect(readdirSync(blob())).toEqual([])
    expect(existsSync(inRepository('snapshots'))).toBe(false)
  })

  test('contents with another digest than expected, before they are fetched', async () => {
    const sha256 = '1'.repeat(64)
    expect((await failureOf(hubFile({ ...file, sha256 }, options))).message).toMatch(`expected are ${sha256}`)
    expect(server.downloads).toHaveLength(0)
  })

  test('a cached file that was damaged since', async () => {
    const known = { ...file, sha256: digest }
    const path = await hubFile(known, options)
    writeFileSync(path, Buffer.alloc(content.length))
    await failureOf(hubFile(known, offline()))
    expect(readFileSync(await hubFile(known, options))).toEqual(content)
  })

  test('more bytes than announced', async () => {
    server.lies = { 'x-linked-size': '1000' }
    expect((await failureOf(hubFile(file, options))).message).toMatch(/more than the announced 1000 bytes/)
  })

  test.each([
    ['x-linked-etag', '"../../../../evil"', /no digest to verify/],
    ['x-repo-commit', '../../evil', /commit is not known/],
    ['x-repo-commit', '1'.repeat(40), /was offered instead/],
    ['x-linked-size', 'large', /size is not known/],
    ['location', 'file:///etc/passwd', /redirects to file:/],
  ])('a header %s: %s', async (name, value, message) => {
    server.lies = { [name]: value }
    expect((await failureOf(hubFile(file, options))).message).toMatch(message)
    expect(existsSync(blob())).toBe(name === 'location')
  })

  test.each([
    { path: '../evil' },
    { path: '/etc/passwd' },
    { path: 'a/../../b' },
    { repository: 'org/../x' },
    { repository: 'model' },
    { revision: '..' },
  ])('names that lead elsewhere: %o', async (part) => {
    expect((await failureOf(hubFile({ ...file, ...part }, options))).message).toMatch(/not a plain path/)
    expect(server.seen).toEqual([])
  })
})

describe('messages', () => {
  test('a file that does not exist', async () => {
    const { message, transient } = await failureOf(hubFile({ ...file, path: 'no.json' }, options))
    expect(message).toBe('org/model/no.json cannot be fetched: status 404 (EntryNotFound)')
    expect(transient).toBe(false)
    expect(server.seen).toHaveLength(1)
  })

  test('a file that needs a token', async () => {
    server.status = 401
    expect((await failureOf(hubFile(file, options))).message).toMatch(/set HF_TOKEN/)
  })

  test('a server that is out of order is asked again', async () => {
    server.status = 503
    expect((await failureOf(hubFile(file, options))).message).toMatch(/status 503/)
    expect(server.seen).toHaveLength(6)
  })

  test('no server', async () => {
    const gone = await HubServer.start()
    const environment = { ...options.environment, HF_ENDPOINT: gone.endpoint }
    await gone[Symbol.asyncDispose]()
    const { message } = await failureOf(hubFile(file, { ...options, environment }))
    expect(message).toMatch(/does not answer \(ECONNREFUSED\)/)
  })

  test('an endpoint with a password, which is not shown', async () => {
    const environment = { ...options.environment, HF_ENDPOINT: 'http://me:hush@127.0.0.1:1' }
    const { message } = await failureOf(hubFile(file, { ...options, environment }))
    expect(message).toMatch(/HF_ENDPOINT/)
    expect(message).not.toContain('hush')
  })

  test('offline', async () => {
    expect((await failureOf(hubFile(file, offline()))).message).toMatch(/HF_HUB_OFFLINE is set/)
    expect(server.seen).toEqual([])
  })
})

/** The same download in a process of its own. */
function startChild() {
  const module = JSON.stringify(new URL('./hub-download.ts', import.meta.url).href)
  const script = `const { hubFile } = await import(${module}); await hubFile(${JSON.stringify(file)})`
  const environment = { PATH: process.env['PATH'], ...options.environment }
  return spawn(process.execPath, ['--input-type=module', '-e', script], { env: environment, stdio: 'ignore' })
}
