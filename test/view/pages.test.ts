import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { directOrganisation } from '../../src/evaluation/baseline-organisations.ts'
import { evaluate } from '../../src/evaluation/evaluate.ts'
import { magic } from '../magic.ts'
import { tinyTaskSet } from '../tiny-task-set.ts'
import { modelAround, tinyModel, tinySettings, trainTiny } from '../tiny-training.ts'
import {
  expectAccessible,
  newPagePerTest,
  openBrowser,
  openPage,
  type RunningView,
  startMagicView,
} from './browser.ts'

const runs = mkdtempSync(join(tmpdir(), 'magic-view-'))
const run = 'quick-demo-0'
let browser: Browser
let view: RunningView
let page: Page

beforeAll(async () => {
  const { code, stderr } = await magic('demo', '--quick', '--runs-dir', runs)
  expect(stderr + code).toMatch(/0$/)
  view = await startMagicView('--runs-dir', runs, '--allow-ask')
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await view?.close()
  rmSync(runs, { recursive: true, force: true })
})
newPagePerTest(
  () => openPage(browser, view),
  (opened) => {
    page = opened
  },
)

const open = (path: string) => page.goto(`${view.url}${path}`)
const main = () => page.locator('main')

describe('runs', () => {
  test('lists a run with status, score, tokens and progress, and links to it', async () => {
    await open('/')
    const row = page.getByRole('row', { name: new RegExp(run) })
    await row.waitFor()
    const text = await row.innerText()
    expect(text).toContain('finished')
    expect(text).toContain('synthetic')
    expect(text).toContain('simulated')
    expect(text).toMatch(/\d+\.\d %/)
    expect(text).toContain('13/13')
    await expectAccessible(page)
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: run, level: 1 }).waitFor()
    expect(page.url()).toBe(`${view.url}/runs/${run}`)
  })

  test('keeps filters, sorting and selection in the URL, so links preserve them', async () => {
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
  test('shows curves, the heat map and the cost', async () => {
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
      await page.getByRole('img', { name: new RegExp(`^${name}.*: from .* over 13 updates$`) }).waitFor()
    expect(await page.locator('.uplot canvas').count()).toBeGreaterThan(8)
    await page.getByRole('img', { name: /by role and granularity/ }).waitFor()
    expect(await page.locator('.plot .heat').count()).toBeGreaterThan(10)
    expect(await main().innerText()).toMatch(/tokens not paid for again/)
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

  test('shows how training by values treated the questions it learned from', async () => {
    await open(`/runs/${run}?tab=questions&q=arithmetic-0`)
    await page.getByRole('columnheader', { name: 'training' }).waitFor()
    await page.getByRole('row').nth(1).getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: /^synthetic-0-.*arithmetic-0$/ }).waitFor()
    await page.getByText(/the last of \d+ graphs that training tried/).waitFor()
    await page.getByText(/can be replayed for evaluated questions only/).waitFor()
    await page.locator('.waterfall button').last().waitFor()
  })

  test('shows deviations from the paper, and offers its files', async () => {
    await open(`/runs/${run}?tab=settings`)
    const row = page.getByRole('row', { name: /^learningRate/ })
    expect(await row.innerText()).toMatch(/0\.001\s+0\.0001/)
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

describe('a question', () => {
  test('explains its score, how its graph was built and who said what, beside another organisation', async () => {
    await open(`/runs/${run}?tab=questions`)
    await page.getByRole('searchbox').fill('choice-1')
    await page.getByRole('row').nth(1).getByRole('link').click()
    await page.getByRole('heading', { name: 'synthetic-0-choice-1' }).waitFor()
    await page.getByText('Expected').first().waitFor()
    await page.getByRole('heading', { name: 'How the graph was built' }).waitFor()
    await page.getByText(/^Decision 1 of /).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText(/^Decision 2 of /).waitFor()
    const choices = await page.locator('.choices .taken').allInnerTexts()
    expect(choices[0]).toMatch(/\d+\.\d %/)
    await page.locator('.react-flow__node').first().waitFor()
    await page.locator('.waterfall button').last().click()
    await page.getByText('Request', { exact: true }).waitFor()
    expect(await page.locator('.text-box').allInnerTexts()).toContainEqual(
      expect.stringContaining('"analysis"'),
    )
    await page.getByRole('checkbox', { name: 'Show direct beside it' }).check()
    await page.getByRole('region', { name: 'Organisation direct' }).waitFor()
    await page.getByText(/^No policy built this graph/).waitFor()
    expect(new URL(page.url()).searchParams.get('beside')).toBe('direct')
    await expectAccessible(page)
  })

  test('shows a message when its edge is selected', async () => {
    await open(`/runs/${run}/question?task=synthetic-0-choice-1&by=chain`)
    await page.locator('.react-flow__edge').first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^What .* told / }).waitFor()
    expect(await page.locator('.text-box').last().innerText()).toContain('"analysis"')
  })
})

test('compare shows the frontier, paired differences and disagreements, and links to a question', async () => {
  await open(`/compare?runs=${run}&a=trained&b=direct`)
  await page.getByRole('img', { name: /against tokens per question/ }).waitFor()
  expect(await page.locator('.plot .frontier').count()).toBe(1)
  await page.getByRole('heading', { name: 'Paired differences from untrained' }).waitFor()
  expect(await page.getByRole('img', { name: /^Differences to untrained/ }).count()).toBe(1)
  await expectAccessible(page)
  await page.getByLabel('Compared with').selectOption('direct')
  await page.getByRole('heading', { name: 'Paired differences from direct' }).waitFor()
  const rows = page.getByRole('table', { name: 'Disagreements' }).getByRole('row')
  if ((await rows.count()) > 1) {
    await rows.nth(1).getByRole('link').click()
    await page.getByRole('region', { name: 'Organisation trained' }).waitFor()
    await page.getByRole('region', { name: 'Organisation direct' }).waitFor()
  }
})

test('asking builds a graph, runs it and shows the answer', async () => {
  await open('/ask')
  await page.getByRole('textbox', { name: 'Your question' }).fill('What is 6 times 7?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByRole('heading', { name: 'Answer' }).waitFor()
  await page.getByText(/its answer is a guess/).waitFor()
  await page.getByText(/^Decision 1 of /).waitFor()
  await page.locator('.waterfall button').first().waitFor()
  await expectAccessible(page)
})

test('a running training updates the page by itself', async () => {
  const gate = Promise.withResolvers<void>()
  let updates = 0
  const model = modelAround(async (request, signal) => {
    if (updates >= 2) await gate.promise
    return tinyModel.ask(request, signal)
  })
  await open('/')
  await page.getByRole('row', { name: new RegExp(run) }).waitFor()
  const training = trainTiny(join(runs, 'live'), {
    model,
    settings: { ...tinySettings, trajectories: 6, probes: 2, updates: 4 },
    onEvent: ({ type }) => {
      if (type === 'update') updates += 1
    },
  })
  const row = page.getByRole('row', { name: /\blive\b/ })
  await row.getByText('2/4').waitFor()
  expect(await row.innerText()).toContain('training')
  await row.getByRole('link').click()
  await page.getByText('2 of 4 updates').waitFor()
  await page.getByRole('img', { name: /^Score: from .* over 2 updates$/ }).waitFor()
  gate.resolve()
  await training
  await page.getByText('4 of 4 updates').waitFor()
  await page.getByRole('img', { name: /^Score: from .* over 4 updates$/ }).waitFor()
})

test('everything is reachable by keyboard', async () => {
  const press = async (name: RegExp, key = 'Enter') => {
    for (let presses = 0; presses < 80; presses += 1) {
      await page.keyboard.press('Tab')
      const focused = String(
        await page.evaluate(
          "document.activeElement.matches('a, button') ? document.activeElement.textContent : ''",
        ),
      )
      if (name.test(focused)) return page.keyboard.press(key)
    }
    throw new Error(`Nothing called ${name} was reached.`)
  }
  await open('/')
  await page.getByRole('row', { name: new RegExp(run) }).waitFor()
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
  await press(new RegExp(`^${run}$`))
  await page.getByRole('heading', { name: run, level: 1 }).waitFor()
  await press(/^Questions$/)
  await page.getByText(/of 24 questions/).waitFor()
  await press(/^[A-Z].{20,}/)
  await page.getByRole('heading', { name: 'How the graph was built' }).waitFor()
  await press(/^Next$/)
  await page.getByText(/^Decision 2 of /).waitFor()
  await page.locator('.waterfall').waitFor()
  await press(/^finalizer$/)
  await page.getByText('Request', { exact: true }).waitFor()
})

test('no page overflows a narrow screen', async () => {
  await page.setViewportSize({ width: 400, height: 800 })
  const question = 'task=synthetic-0-choice-1&by=trained&beside=untrained'
  const paths = ['/', '/ask', `/compare?runs=${run}`, `/runs/${run}/question?${question}`]
  const tabs = ['', 'graphs', 'evaluations', 'questions', 'settings'].map((tab) => `/runs/${run}?tab=${tab}`)
  for (const path of [...paths, ...tabs]) {
    await open(path)
    await page.locator('main h1').waitFor()
    await page.locator('main :is(.card, .tiles)').first().waitFor()
    await page.waitForLoadState('networkidle')
    const beyond = () => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
    await expect.poll(beyond, { message: path }).toBe(0)
  }
})

test('the colour scheme can be chosen and is remembered', async () => {
  await open('/')
  await page.getByRole('button', { name: 'Dark' }).click()
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  const dark = await ground()
  await page.reload()
  expect(await ground()).toBe(dark)
  await page.getByRole('button', { name: 'Light' }).click()
  expect(await ground()).not.toBe(dark)
})

test('magic report writes the same tables and plots as HTML and as Markdown', async () => {
  const base = join(runs, '..', `${basename(runs)}-report`)
  const { stdout } = await magic('report', run, '--runs-dir', runs, '-o', base, '--json')
  const { html, markdown, plots } = JSON.parse(stdout)
  const written = readFileSync(html, 'utf8')
  expect(written).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/)
  expect(written.match(/<svg/g)!.length).toBeGreaterThan(15)
  await page.setContent(written)
  await page.getByRole('heading', { name: 'Evaluations on test questions' }).waitFor()
  await page.getByRole('cell', { name: 'table-claim' }).waitFor()
  const text = readFileSync(markdown, 'utf8')
  const images = [...text.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, path]) => path!)
  expect(images.length).toBe(readdirSync(plots).length)
  for (const path of images) expect(readFileSync(join(runs, '..', path), 'utf8')).toMatch(/^<svg xmlns=/)
  for (const path of [html, markdown, plots]) rmSync(path, { recursive: true })
})

test('runs with different questions are reported side by side, but not compared', async () => {
  const folder = join(runs, 'other')
  await trainTiny(folder)
  await evaluate({
    set: tinyTaskSet,
    model: tinyModel,
    organisation: directOrganisation(),
    folder,
    sandbox: null,
  })
  await open(`/compare?runs=${run},other`)
  expect(await page.getByRole('alert').textContent()).toMatch(
    /different test questions.*Choose runs with the same questions: quick-demo-0; or other\.$/,
  )
  const base = join(runs, '..', `${basename(runs)}-two`)
  const { code, stdout } = await magic('report', run, 'other', '--runs-dir', runs, '-o', base, '--json')
  expect(code).toBe(0)
  const { html, markdown, plots } = JSON.parse(stdout)
  expect(readFileSync(markdown, 'utf8').match(/^## .*/gm)).toEqual([
    '## quick-demo-0',
    '## other',
    '## Evaluations on test questions: quick-demo-0',
    '## Evaluations on test questions: other',
  ])
  for (const path of [html, markdown, plots]) rmSync(path, { recursive: true })
})
