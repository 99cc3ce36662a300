import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FileServer, serveFiles } from '../../../test/file-server.ts'
import { type DownloadOptions, download } from './download.ts'

const content = randomBytes(300_000)
const sha256 = createHash('sha256').update(content).digest('hex')
const digest = { bytes: content.length, sha256 }
const quick: DownloadOptions = { pauses: [1, 1, 1] }

let server: FileServer
let other: FileServer
let target: string

beforeAll(async () => {
  const files = new Map([['/file', content]])
  server = await serveFiles(files)
  other = await serveFiles(files)
})
afterAll(() => Promise.all([server.close(), other.close()]))
beforeEach(() => {
  target = join(mkdtempSync(join(tmpdir(), 'download-')), 'inner', 'file')
  for (const { requests, misdeeds, headers } of [server, other]) {
    requests.length = 0
    misdeeds.length = 0
    for (const name of Object.keys(headers)) delete headers[name]
  }
})

const fetchFile = (options = quick, extra = {}) =>
  download({ url: `${server.url}/file`, target, digest, ...extra }, options)

describe('a download', () => {
  test('arrives complete with progress, and is not repeated', async () => {
    const progress: number[] = []
    const options = { ...quick, onProgress: ({ received }: { received: number }) => progress.push(received) }
    expect(await fetchFile(options)).toEqual({ sha256, checked: true })
    expect(readFileSync(target)).toEqual(content)
    expect(progress.at(-1)).toBe(content.length)
    await fetchFile()
    expect(server.requests).toHaveLength(1)
    expect(existsSync(`${target}.part`)).toBe(false)
  })

  test('continues where the connection broke', async () => {
    server.misdeeds.push({ cutAfter: 100_000 }, { status: 503 }, { cutAfter: 50_000 })
    await fetchFile()
    expect(readFileSync(target)).toEqual(content)
    // How much of a cut connection arrives depends on the machine; hub-file.test.ts checks exact ranges.
    const starts = server.requests.map(({ range }) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0))
    expect(starts).toHaveLength(4)
    expect(starts[2]).toBe(starts[1])
    expect(starts).toEqual(starts.toSorted((a, b) => a - b))
    expect(starts[3]).toBeLessThanOrEqual(150_000)
  })

  test('continues in the next call, and starts over if the server cannot resume', async () => {
    server.misdeeds.push({ cutAfter: 1000 })
    await expect(fetchFile({ pauses: [] })).rejects.toThrow(/connection failed|ended after/)
    expect(existsSync(target)).toBe(false)
    expect(statSync(`${target}.part`).size).toBe(1000)
    server.misdeeds.push({ ignoreRange: true })
    await fetchFile()
    expect(readFileSync(target)).toEqual(content)
  })

  test('with wrong contents is discarded', async () => {
    const wrong = { digest: { bytes: content.length, sha256: '0'.repeat(64) } }
    await expect(fetchFile(quick, wrong)).rejects.toThrow(/has SHA-256 .*instead of 0000/)
    expect(existsSync(`${target}.part`)).toBe(false)
    await expect(fetchFile(quick, { digest: { bytes: 1000, sha256 } })).rejects.toThrow(
      /longer than 1000 bytes/,
    )
    expect(existsSync(target)).toBe(false)
  })

  test.each([1000, content.length, content.length + 1])(
    'whose part of %i bytes is damaged starts over once',
    async (size) => {
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(`${target}.part`, Buffer.alloc(size))
      expect(await fetchFile()).toEqual({ sha256, checked: true })
      expect(readFileSync(target)).toEqual(content)
    },
  )

  test('from an address with a password is refused without showing it', async () => {
    const url = 'https://me:hush@example.org/file'
    const refused = fetchFile(quick, { url })
    await expect(refused).rejects.toThrow(
      /^https:\/\/example\.org\/file: the address must not contain a user or password/,
    )
  })

  test('from a dead server is not retried', async () => {
    const gone = await serveFiles(new Map())
    await gone.close()
    const options = { pauses: [60_000] }
    await expect(fetchFile(options, { url: `${gone.url}/file` })).rejects.toThrow(
      /connection failed \(ECONNREFUSED\)/,
    )
  })

  test('of one file by several callers happens once', async () => {
    await Promise.all([fetchFile(), fetchFile(), fetchFile()])
    expect(server.requests).toHaveLength(1)
  })

  test("without a known digest is checked against the hub's", async () => {
    const unknown = { digest: undefined }
    expect(await fetchFile(quick, unknown)).toEqual({ sha256, checked: false })
    server.headers['x-linked-etag'] = `"${sha256}"`
    expect(await fetchFile(quick, unknown)).toEqual({ sha256, checked: true })
    server.headers['x-linked-etag'] = `"${'1'.repeat(64)}"`
    await expect(fetchFile(quick, unknown)).rejects.toThrow(/instead of 1111/)
  })

  test('follows redirects only to this machine or https, without the token', async () => {
    server.misdeeds.push({ status: 302, location: `${other.url}/file?secret=1` })
    await fetchFile(quick, { token: 'hf_canary' })
    expect(server.requests[0]!.authorization).toBe('Bearer hf_canary')
    expect(other.requests[0]!.authorization).toBeUndefined()
    for (const location of ['http://example.org/file', 'file:///etc/passwd', 'ftp://127.0.0.1/file']) {
      target = `${target}x`
      server.misdeeds.push({ status: 302, location })
      await expect(fetchFile()).rejects.toThrow(/redirects to .*neither https nor this machine/)
    }
    server.misdeeds.push(...Array.from({ length: 9 }, () => ({ status: 302, location: '/file' })))
    await expect(fetchFile()).rejects.toThrow(/redirects more than 5 times/)
    server.misdeeds.length = 0
    await expect(fetchFile(quick, { url: 'http://example.org/file' })).rejects.toThrow(/must use https/)
  })

  test('that is refused is not retried', async () => {
    for (const [status, problem] of [
      [404, /does not exist/],
      [401, /HF_TOKEN/],
      [418, /status 418/],
    ] as const) {
      server.requests.length = 0
      server.misdeeds.push({ status })
      await expect(fetchFile()).rejects.toThrow(problem)
      expect(server.requests).toHaveLength(1)
    }
  })

  test('that is interrupted keeps what has arrived', async () => {
    const controller = new AbortController()
    server.misdeeds.push({ cutAfter: 1000 })
    const stopped = fetchFile({
      pauses: [60_000],
      signal: controller.signal,
      onProgress: () => controller.abort(),
    })
    await expect(stopped).rejects.toThrow(/abort/)
    expect(statSync(`${target}.part`).size).toBeGreaterThan(0)
  })
})
