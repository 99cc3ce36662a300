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
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commit, HubServer } from '../../test/hub-server.ts'
import { type HubOptions, HubUnavailableError, hubFile } from './hub-file.ts'

const content = randomBytes(300_000)
const sha256 = createHash('sha256').update(content).digest('hex')
const file = { repository: 'org/model', commit, path: 'onnx/model.onnx', sha256 }
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
    pauses: [1, 1, 1, 1, 1],
  }
})
afterEach(() => server[Symbol.asyncDispose]())

const inRepository = (...parts: string[]) => join(cache, 'models--org--model', ...parts)
const blob = inRepository.bind(null, 'blobs')
const snapshot = () => inRepository('snapshots', commit, file.path)
const offline = () => ({ ...options, environment: { ...options.environment, HF_HUB_OFFLINE: '1' } })

async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(HubUnavailableError)
  expect((error as Error).message).not.toContain(token)
  return (error as Error).message
}

describe('a download', () => {
  test('is stored where Python looks for it, and is fetched once', async () => {
    const steps: { received: number; total: number | undefined }[] = []
    const path = await hubFile(file, { ...options, onProgress: (step) => steps.push(step) })
    expect(path).toBe(snapshot())
    expect(readFileSync(path)).toEqual(content)
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(readlinkSync(path)).toBe(join('..', '..', '..', 'blobs', sha256))
    expect(readdirSync(blob())).toEqual([sha256])
    expect(steps.at(-1)).toEqual({ received: content.length, total: content.length })
    expect(await hubFile(file, options)).toBe(path)
    expect(server.downloads).toHaveLength(1)
  })

  test('is skipped for files Python has already fetched', async () => {
    mkdirSync(dirname(snapshot()), { recursive: true })
    writeFileSync(snapshot(), content)
    expect(await hubFile(file, offline())).toBe(snapshot())
    expect(server.seen).toEqual([])
  })

  test('sends the token to the hub only, not to storage on another port', async () => {
    await hubFile(file, options)
    for (const { server: kind, authorization } of server.seen)
      expect(authorization).toBe(kind === 'hub' ? `Bearer ${token}` : undefined)
    expect(new Set(server.seen.map(({ server: kind }) => kind))).toEqual(new Set(['hub', 'storage']))
  })

  test('follows a renamed repository and keeps the token', async () => {
    server.formerName = 'old/name'
    const path = await hubFile({ ...file, repository: 'old/name' }, options)
    expect(readFileSync(path)).toEqual(content)
    for (const { server: kind, authorization } of server.seen)
      expect(authorization).toBe(kind === 'hub' ? `Bearer ${token}` : undefined)
  })

  test('continues after a broken connection', async () => {
    server.faults.push({ stallAfter: 100_000 }, { status: 503 }, { stallAfter: 50_000 })
    const onProgress = ({ received }: { received: number }) => {
      if ([100_000, 150_000].includes(received)) server.cutStalled()
    }
    expect(readFileSync(await hubFile(file, { ...options, onProgress }))).toEqual(content)
    expect(server.downloads.map(({ range }) => range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=100000-',
      'bytes=150000-',
    ])
  })

  test('continues after a kill', async () => {
    server.faults.push({ stallAfter: 120_000 })
    const child = startChild()
    const part = blob(`${sha256}.part`)
    while (!existsSync(part) || lstatSync(part).size < 100_000) await setTimeout(10)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    const arrived = lstatSync(part).size
    expect(readFileSync(await hubFile(file, options))).toEqual(content)
    expect(server.downloads.at(-1)!.range).toBe(`bytes=${arrived}-`)
    expect(readdirSync(blob())).toEqual([sha256])
  })

  test('stops at once when the caller aborts', async () => {
    server.faults.push({ stallAfter: 1000 })
    const controller = new AbortController()
    const reason = new Error('enough')
    const onProgress = () => controller.abort(reason)
    const stopped = hubFile(file, { ...options, signal: controller.signal, onProgress })
    await expect(stopped).rejects.toBe(reason)
  })
})

test('is fetched once by concurrent processes', async () => {
  const children = [startChild(), startChild()]
  const ends = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
  const paths = await Promise.all([hubFile(file, options), hubFile(file, options)])
  expect(await Promise.all(ends)).toEqual([0, 0])
  for (const path of paths) expect(readFileSync(path)).toEqual(content)
  expect(server.downloads).toHaveLength(1)
})

describe('wrong contents are never used', () => {
  test('contents that differ from the pinned digest', async () => {
    const other = { ...file, sha256: '1'.repeat(64) }
    expect(await failureOf(hubFile(other, options))).toMatch(/has SHA-256 .* instead of 1111/)
    expect(readdirSync(blob())).toEqual([])
    expect(existsSync(inRepository('snapshots'))).toBe(false)
  })

  test('a cached file that was damaged later', async () => {
    const path = await hubFile(file, options)
    writeFileSync(path, Buffer.alloc(content.length))
    await failureOf(hubFile(file, offline()))
    expect(readFileSync(await hubFile(file, options))).toEqual(content)
  })

  test('a redirect to a local file', async () => {
    server.lies = { location: 'file:///etc/passwd' }
    expect(await failureOf(hubFile(file, options))).toMatch(/redirects to file:/)
  })
})

describe('messages', () => {
  test('a missing file', async () => {
    expect(await failureOf(hubFile({ ...file, path: 'no.json' }, options))).toMatch(
      /^org\/model\/no\.json cannot be fetched: http.*: status 404 \(EntryNotFound\)/,
    )
    expect(server.seen).toHaveLength(1)
  })

  test('a file that needs a token', async () => {
    server.status = 401
    expect(await failureOf(hubFile(file, options))).toMatch(/set HF_TOKEN/)
  })

  test('a failing server is retried', async () => {
    server.status = 503
    expect(await failureOf(hubFile(file, options))).toMatch(/status 503/)
    expect(server.seen).toHaveLength(6)
  })

  test('an unreachable server', async () => {
    const gone = await HubServer.start()
    const environment = { ...options.environment, HF_ENDPOINT: gone.endpoint }
    await gone[Symbol.asyncDispose]()
    expect(await failureOf(hubFile(file, { ...options, environment }))).toMatch(/ECONNREFUSED/)
  })

  test('an endpoint with a password, which stays hidden', async () => {
    const environment = { ...options.environment, HF_ENDPOINT: 'https://me:hush@127.0.0.1:1' }
    const message = await failureOf(hubFile(file, { ...options, environment }))
    expect(message).toMatch(/user or password/)
    expect(message).not.toContain('hush')
  })

  test('offline', async () => {
    expect(await failureOf(hubFile(file, offline()))).toMatch(/HF_HUB_OFFLINE is set/)
    expect(server.seen).toEqual([])
  })
})

/** The same download in a separate process. */
function startChild() {
  const module = JSON.stringify(new URL('./hub-file.ts', import.meta.url).href)
  const script = `const { hubFile } = await import(${module}); await hubFile(${JSON.stringify(file)})`
  const environment = { PATH: process.env['PATH'], ...options.environment }
  return spawn(process.execPath, ['--input-type=module', '-e', script], { env: environment, stdio: 'ignore' })
}
