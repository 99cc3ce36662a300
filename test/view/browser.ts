import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import AxeBuilder from '@axe-core/playwright'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterEach, beforeEach, expect } from 'vitest'

const executables = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/chromium-browser']

/** Debian's Chromium. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = executables.find((path) => path !== undefined && existsSync(path))
  if (executablePath === undefined)
    throw new Error(
      'Chromium is not installed. `npm run setup` installs it as root on Debian; elsewhere set CHROMIUM_PATH.',
    )
  // Chromium's sandbox does not work as root in a container.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

export interface RunningView {
  readonly url: string
  close(): Promise<void>
}

/** Starts the command like a user would. */
export function startMagicView(...words: string[]): Promise<RunningView> {
  return startMagicViewIn({}, ...words)
}

/** The same with more environment variables. */
export async function startMagicViewIn(
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<RunningView> {
  const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
  const child = spawn(process.execPath, [script, 'view', '--port', '0', '--json', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  const [line] = await once(child.stdout, 'data')
  const { url } = JSON.parse(String(line))
  return {
    url,
    async close() {
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      await ended
    },
  }
}

/** A page that records errors, blocked content and requests to other hosts. */
export async function openPage(
  browser: Browser,
  { url }: Pick<RunningView, 'url'>,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; mishaps: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options })
  const page = await context.newPage()
  // A busy machine may be slow.
  page.setDefaultTimeout(120_000)
  const mishaps: string[] = []
  page.on('pageerror', ({ message }) => mishaps.push(`error: ${message}`))
  page.on('dialog', (dialog) => {
    mishaps.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    // Failed requests are logged too; tests that expect one check the page.
    const isRefusal = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isRefusal)
      mishaps.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) mishaps.push(`request: ${request.url()}`)
  })
  return { page, mishaps }
}

/** Opens a new page for every test and hands it to `use`; the test fails if anything went wrong on it. */
export function newPagePerTest(open: () => ReturnType<typeof openPage>, use: (page: Page) => void): void {
  let opened: Awaited<ReturnType<typeof open>>
  beforeEach(async () => {
    opened = await open()
    use(opened.page)
  })
  afterEach(async () => {
    await opened.page.context().close()
    expect(opened.mishaps).toEqual([])
  })
}

/** Checks that axe finds nothing serious, in light and dark; only colours can differ between the two. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const axe = new AxeBuilder({ page })
    if (colorScheme === 'dark') axe.withRules(['color-contrast'])
    const { violations } = await axe.analyze()
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(
      serious.map(
        ({ id, nodes }) => `${colorScheme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join('\n')}`,
      ),
    ).toEqual([])
  }
}
