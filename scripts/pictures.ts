// npm run docs:pictures: takes the pictures of docs/view.md. Trains the demo first, unless a folder with its run is given.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { openBrowser, openPage, startMagicView } from '../test/view/browser.ts'

const run = 'demo-0'
const images = fileURLToPath(new URL('../docs/images/', import.meta.url))
const [given] = process.argv.slice(2)
const runs = given ?? mkdtempSync(join(tmpdir(), 'magic-pictures-'))
if (given === undefined) {
  const magic = fileURLToPath(new URL('../bin/magic.js', import.meta.url))
  const demos = [['--quick'], ['--quick', '--seed', '1'], []]
  for (const words of demos) {
    const { status } = spawnSync(process.execPath, [magic, 'demo', '--runs-dir', runs, ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error(`The demo ended with ${status}.`)
  }
}

type Look = { readonly colorScheme?: 'light' | 'dark'; readonly width?: number }

const view = await startMagicView('--runs-dir', runs, '--allow-ask')
const browser = await openBrowser()

/** Opens a page, does something on it, and takes a picture of the result. */
async function picture(
  name: string,
  path: string,
  prepare: (page: Page) => Promise<unknown>,
  { colorScheme = 'light', width = 1280 }: Look = {},
): Promise<void> {
  const viewport = { width, height: 860 }
  const { page, mishaps } = await openPage(browser, view, { viewport, colorScheme, reducedMotion: 'reduce' })
  await page.goto(`${view.url}${path}`)
  await prepare(page)
  await page.waitForLoadState('networkidle')
  // Charts and graphs are drawn with the next frames.
  await page.waitForTimeout(500)
  if (mishaps.length > 0) throw new Error(mishaps.join('\n'))
  await page.screenshot({ path: join(images, `view-${name}.png`) })
  await page.context().close()
}

const heading = (name: RegExp) => (page: Page) => page.getByRole('heading', { name }).first().waitFor()
/** From the comparison to the first question on which the trained and the untrained policy disagree. */
const toQuestion = async (page: Page, part: string) => {
  await page.getByRole('table', { name: 'Disagreements' }).getByRole('link').first().click()
  await page.locator('.react-flow__node').last().waitFor()
  await page
    .getByRole('heading', { name: part })
    .first()
    .evaluate((element) => element.scrollIntoView())
  await page.mouse.wheel(0, -80)
}

try {
  const charts = (page: Page) => page.locator('.uplot').nth(8).waitFor()
  await picture('runs', '/', (page) => page.getByRole('row').nth(1).waitFor())
  await picture('run', `/runs/${run}`, charts)
  await picture('run-dark', `/runs/${run}`, charts, { colorScheme: 'dark' })
  await picture('graphs', `/runs/${run}?tab=graphs`, async (page) => {
    await heading(/^After training/)(page)
    await page.getByRole('navigation', { name: 'Parts of the run' }).evaluate((one) => one.scrollIntoView())
    await page.mouse.wheel(0, -80)
  })
  await picture('evaluations', `/runs/${run}?tab=evaluations`, heading(/^Score against tokens/))
  await picture('questions', `/runs/${run}?tab=questions`, (page) => page.getByRole('row').nth(9).waitFor())
  await picture('settings', `/runs/${run}?tab=settings`, heading(/^Settings$/))
  await picture('compare', `/compare?runs=${run}`, heading(/^Paired differences/))
  await picture('question', `/compare?runs=${run}`, (page) => toQuestion(page, 'How the graph was built'))
  await picture('narrow', `/compare?runs=${run}`, (page) => toQuestion(page, 'Execution'), { width: 420 })
  await picture('ask', `/ask?run=${run}`, async (page) => {
    const question =
      'A ferry has 12 rows of 8 seats. On Friday, 17 seats stay empty. How many people are on board?'
    await page.getByRole('textbox', { name: 'Your question' }).fill(question)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await heading(/^Answer$/)(page)
    await page.evaluate('scrollTo(0, 0)')
  })
} finally {
  await browser.close()
  await view.close()
  if (given === undefined) rmSync(runs, { recursive: true, force: true })
}
