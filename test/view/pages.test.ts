import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { magic } from '../magic.ts'
import { expectAccessible, openBrowser, openPage, type RunningView, startMagicView } from './browser.ts'

const runs = mkdtempSync(join(tmpdir(), 'magic-view-'))
const run = 'quick-demo-0'
let browser: Browser
let view: RunningView
let page: Page
let mishaps: string[]

beforeAll(async () => {
  const { code, stderr } = await magic('demo', '--quick', '--runs-dir', runs)
  expect(stderr + code).toMatch(/0$/)
  view = await startMagicView('--runs-dir', runs)
  browser = await openBrowser()
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await view?.close()
  rmSync(runs, { recursive: true, force: true })
})
beforeEach(async () => {
  ;({ page, mishaps } = await openPage(browser, view))
})
afterEach(async () => {
  await page.context().close()
  expect(mishaps).toEqual([])
})

const open = (path: string) => page.goto(`${view.url}${path}`)
const main = () => page.locator('main')

describe('runs', () => {
  test('lists a run with status, score, tokens and progress, and leads to it', async () => {
    await open('/')
    const row = page.getByRole('row', { name: new RegExp(run) })
    await row.waitFor()
    const text = await row.innerText()
    expect(text).toContain('finished')
    expect(text).toContain('synthetic')
    expect(text).toContain('simulated')
    expect(text).toMatch(/\d+\.\d %/)
    expect(text).toContain('8/8')
    await expectAccessible(page)
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: run, level: 1 }).waitFor()
    expect(page.url()).toBe(`${view.url}/runs/${run}`)
  })

  test('filters, sorts and selects in the address, so that a link carries them', async () => {
    await open('/?q=nothing-like-this')
    await page.getByText('0 of 1 runs').waitFor()
    await page.getByRole('searchbox').fill('quick')
    await page.getByRole('row', { name: new RegExp(run) }).waitFor()
    await page.getByRole('button', { name: 'Score' }).click()
    await page.getByRole('checkbox', { name: `Compare ${run}` }).check()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      q: 'quick',
      sort: '-score',
      selected: run,
    })
    await page.reload()
    expect(await page.getByRole('checkbox', { name: `Compare ${run}` }).isChecked()).toBe(true)
    expect(await page.getByRole('columnheader', { name: 'Score' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await page.getByRole('link', { name: /Compare its organisations/ }).waitFor()
  })
})

describe('a run', () => {
  test('shows curves, the heat map and what it took', async () => {
    await open(`/runs/${run}`)
    for (const name of [
      'Score',
      'Return',
      'Loss',
      'Entropy',
      'KL',
      'Temperature',
      'Tokens made',
      'Tokens reused',
    ])
      await page.getByRole('img', { name: new RegExp(`^${name}.*: from .* over 8 updates$`) }).waitFor()
    expect(await page.locator('.uplot canvas').count()).toBeGreaterThan(8)
    await page.getByRole('img', { name: /by role and granularity/ }).waitFor()
    expect(await page.locator('.plot .heat').count()).toBeGreaterThan(10)
    expect(await main().innerText()).toMatch(/tokens not asked for again/)
    await expectAccessible(page)
  })

  test('shows the graphs before and after training, and by kind of question', async () => {
    await open(`/runs/${run}?tab=graphs`)
    await page.getByRole('heading', { name: 'Before training' }).waitFor()
    await page.getByRole('heading', { name: 'After training' }).waitFor()
    await page.getByRole('rowheader', { name: 'table-claim' }).waitFor()
    expect(await page.getByRole('img', { name: /^Graph of/ }).count()).toBeGreaterThan(4)
    await expectAccessible(page)
  })

  test('shows its evaluations and questions', async () => {
    await open(`/runs/${run}?tab=evaluations`)
    await page.getByRole('row', { name: /^trained/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(7)
    await expectAccessible(page)
    await open(`/runs/${run}?tab=questions&kind=choice`)
    await page.getByText(/of 24 questions/).waitFor()
    expect(await page.getByRole('row').count()).toBeGreaterThan(4)
    await expectAccessible(page)
  })

  test('shows what differs from the paper, and offers its files', async () => {
    await open(`/runs/${run}?tab=settings`)
    const row = page.getByRole('row', { name: /^learningRate/ })
    expect(await row.innerText()).toMatch(/0\.002\s+0\.0001/)
    await page.getByRole('button', { name: /^All/ }).click()
    expect(await page.getByRole('row', { name: /^passes/ }).count()).toBe(1)
    await expectAccessible(page)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'events.jsonl' }).click(),
    ])
    const saved = await download.path()
    expect(readFileSync(saved)).toEqual(readFileSync(join(runs, run, 'events.jsonl')))
  })
})
