import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { directOrganisation } from '../../src/evaluation/baseline-organisations.ts'
import { evaluate } from '../../src/evaluation/evaluate.ts'
import { viewApp } from '../../src/view/view-app.ts'
import { magic } from '../magic.ts'
import { tinyTaskSet } from '../tiny-task-set.ts'
import { tinyModel, trainTiny } from '../tiny-training.ts'
import { openBrowser, openPage, type RunningView, startMagicView } from './browser.ts'
import { paths, scripts } from './payloads.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-hostile-'))
const runs = join(work, 'runs')
const run = join(runs, 'hostile')
const long = 'x'.repeat(1_000_000)
const escapes = '\u001b]0;owned\u0007\u001b[2J\u202eevil'
let view: RunningView
let browser: Browser

beforeAll(async () => {
  mkdirSync(runs)
  writeFileSync(join(work, 'secret.txt'), 'the-secret')
  await trainTiny(run)
  const { folder } = await evaluate({
    ...{ set: tinyTaskSet, model: tinyModel, organisation: directOrganisation(), folder: run, sandbox: null },
  })
  poison(folder!)
  cpSync(run, join(runs, 'damaged'), { recursive: true })
  writeFileSync(join(runs, 'damaged', 'run.json'), '{"format": "magic-run-1", "name": ')
  symlinkSync(join(work, 'secret.txt'), join(run, 'link'))
  view = await startMagicView('--runs-dir', runs)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await view?.close()
  rmSync(work, { recursive: true, force: true })
})

/** Puts payloads wherever a data set, a model, a library or another program could put them. */
function poison(evaluation: string): void {
  const lines = (file: string) => readFileSync(file, 'utf8').trim().split('\n')
  const records = join(evaluation, 'records.jsonl')
  const record = JSON.parse(lines(records)[0]!)
  const poisoned = scripts.map((payload) => ({
    ...record,
    ...{ task: payload, question: payload, expected: payload, answer: payload },
    options: [{ label: payload, text: payload }],
    measures: { [payload]: 0.5 },
    failures: [{ node: payload, status: payload, reason: payload }],
    graph: { units: [{ role: payload, realization: 'group', predecessors: [] }] },
    graphKey: payload,
  }))
  const others = [
    { ...record, task: 'long', question: long, answer: long },
    { ...record, task: 'escapes', question: escapes, answer: escapes },
  ]
  writeFileSync(records, [...poisoned, ...others].map((line) => `${JSON.stringify(line)}\n`).join(''))
  const change = (file: string, facts: object) => {
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...facts }))
  }
  change(join(evaluation, 'evaluation.json'), {
    organisation: scripts[0],
    description: scripts[1],
    about: { [scripts[2]!]: scripts[3] },
  })
  const { tasks, model } = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'))
  change(join(run, 'run.json'), {
    name: scripts[4],
    tasks: { ...tasks, title: scripts[5], metric: scripts[6] },
    model: { ...model, provider: scripts[7], model: scripts[8] },
  })
  const events = join(run, 'events.jsonl')
  const spoiled = lines(events).map((line, position) => {
    const event = JSON.parse(line)
    const roles = Object.fromEntries(
      scripts.slice(position * 9, position * 9 + 9).map((name) => [name, { atomic: 1, group: 1 }]),
    )
    return `${JSON.stringify({ ...event, actions: { ...event.actions, roles } })}\n`
  })
  writeFileSync(events, spoiled.join(''))
}

test('there are the promised number of distinct payloads', () => {
  expect(new Set(scripts).size).toBe(60)
  expect(new Set(paths).size).toBe(40)
})

test('sixty payloads in questions, answers, names and roles are shown as text on every page', async () => {
  const { page, mishaps } = await openPage(browser, view)
  const question = (task: string) => `/runs/hostile/question?${new URLSearchParams({ task })}`
  const pages: Record<string, readonly string[]> = {
    '/': [],
    '/runs/hostile': [scripts[0]!],
    '/runs/hostile?tab=graphs': [],
    '/runs/hostile?tab=evaluations': [scripts[0]!],
    '/runs/hostile?tab=questions': scripts,
    '/runs/hostile?tab=settings': [],
    '/compare?runs=hostile': [scripts[0]!],
    [question(scripts[13]!)]: [scripts[13]!],
    [question(scripts[22]!)]: [scripts[22]!],
    [question(scripts[53]!)]: [scripts[53]!],
  }
  for (const [path, shown] of Object.entries(pages)) {
    await page.goto(`${view.url}${path}`)
    await page.locator('main h1').waitFor()
    await page.locator('main :is(.card, .tiles)').first().waitFor()
    const text = () => page.locator('main').textContent()
    for (const payload of shown)
      await expect.poll(text, { message: path, timeout: 200_000 }).toContain(payload)
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(
      await page
        .locator('#root :is(script, img, iframe, object, embed, base, meta, link, form[action])')
        .count(),
    ).toBe(0)
  }
  expect(mishaps).toEqual([])
  await page.context().close()
})

test('a megabyte answer is cut, and control characters are shown as codes', async () => {
  const { page, mishaps } = await openPage(browser, view)
  await page.goto(`${view.url}/runs/hostile/question?task=long`)
  await page.getByText('The first 64000 of 1000000 characters.').waitFor()
  await page.goto(`${view.url}/runs/hostile/question?task=escapes`)
  await page.getByText('\\u001b]0;owned\\u0007\\u001b[2J\\u202eevil').first().waitFor()
  expect(mishaps).toEqual([])
  await page.context().close()
})

test('a damaged run is listed with the reason, which its page shows too', async () => {
  const { page, mishaps } = await openPage(browser, view)
  await page.goto(view.url)
  const problem = page.getByRole('alert')
  await problem.waitFor()
  expect(await problem.textContent()).toMatch(
    /^damaged cannot be read\. .*run\.json cannot be read.*Restore it from a copy/,
  )
  await page.getByRole('link', { name: 'hostile', exact: true }).waitFor()
  await page.goto(`${view.url}/runs/damaged`)
  await page.getByRole('alert').waitFor()
  expect(mishaps).toEqual([])
  await page.context().close()
})

test('an empty folder shows how to begin', async () => {
  const empty = join(work, 'none-yet')
  const other = await startMagicView('--runs-dir', empty)
  const { page, mishaps } = await openPage(browser, other)
  await page.goto(other.url)
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  await page.getByText('magic demo --quick').waitFor()
  expect(mishaps).toEqual([])
  await page.context().close()
  await other.close()
})

test('a report shows payloads as text too', async () => {
  const base = join(work, 'report')
  const { code, stderr } = await magic('report', run, '--runs-dir', runs, '-o', base)
  expect(stderr + code).toBe('0')
  const html = readFileSync(`${base}.html`, 'utf8')
  expect(html).toContain('&lt;script&gt;window.hacked=1&lt;/script&gt;')
  expect(html).not.toMatch(/<(script|img|iframe|object|embed)\b/i)
  expect(readFileSync(`${base}.md`, 'utf8')).not.toMatch(/(?<!\\)<script/)
})

const pages = join(work, 'pages')
function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  mkdirSync(pages, { recursive: true })
  writeFileSync(join(pages, 'index.html'), '<!doctype html>the page')
  const openTasks = () => Promise.reject(new Error('none'))
  const app = viewApp({ runs, pages, version: '0', openTasks, closing: new AbortController().signal })
  return app.request(`http://127.0.0.1:4242${path}`, {
    method,
    headers: { host: '127.0.0.1:4242', ...headers },
  })
}

test.each(paths)('a path is refused: %j', async (path) => {
  const query = new URLSearchParams({ path }).toString()
  const [file, name, asset] = [
    await ask(`/api/runs/hostile/file?${query}`),
    await ask(`/api/runs/${encodeURIComponent(path)}/file?path=run.json`),
    await ask(`/assets/${encodeURIComponent(path)}`),
  ]
  for (const response of [file, name]) {
    expect(response.status).toBe(404)
    expect(await response.text()).not.toMatch(/the-secret|root:|magic-run/)
  }
  // A browser resolves `/assets/..` to the start page before sending the request.
  expect([404, 200]).toContain(asset.status)
  expect(await asset.text()).toMatch(/^(<!doctype html>the page|There is nothing here\.)$/)
})

test('a run file is served as a download only', async () => {
  const response = await ask('/api/runs/hostile/file?path=run.json')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="run.json"')
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
  expect(await response.text()).toBe(readFileSync(join(run, 'run.json'), 'utf8'))
})

test.each([
  [{ host: 'evil.example' }],
  [{ host: 'evil.example:4242' }],
  [{ host: '127.0.0.1.evil.example' }],
  [{ host: '' }],
  [{ origin: 'http://evil.example' }],
  [{ origin: 'null' }],
  [{ origin: 'http://127.0.0.1:9999' }],
  [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
])('a foreign host or origin is refused: %j', async (headers: Record<string, string>) => {
  const response = await ask('/api/runs', headers)
  expect(response.status).toBe(403)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('every response carries the policy, and nothing can be asked or changed unless allowed', async () => {
  for (const path of ['/', '/api/runs', '/api/nothing', '/runs/hostile', '/assets/none.js']) {
    const policy = (await ask(path)).headers.get('content-security-policy')
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'])
    for (const path of ['/api/ask', '/api/runs', '/api/runs/hostile'])
      expect((await ask(path, { 'content-type': 'application/json' }, method)).status).toBe(404)
})
