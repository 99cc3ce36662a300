// How smooth the dashboard stays with 10,000 updates and 10,000 questions: frame times in a real browser.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { magic } from '../test/magic.ts'
import { openBrowser, openPage, startMagicView } from '../test/view/browser.ts'
import { type Bench, Samples } from './bench.ts'

const name = 'large'

export const viewBench: Bench = async ({ quick, say }) => {
  const size = quick ? 1000 : 10_000
  const runs = mkdtempSync(join(tmpdir(), 'magic-view-bench-'))
  try {
    say('making a run')
    await magic('demo', '--quick', '--runs-dir', runs)
    enlarge(runs, size)
    const view = await startMagicView('--runs-dir', runs)
    const browser = await openBrowser()
    try {
      const { page } = await openPage(browser, view)
      const opened = async (path: string, ready: RegExp) => {
        const start = performance.now()
        await page.goto(`${view.url}${path}`)
        await page.getByText(ready).first().waitFor()
        return performance.now() - start
      }
      say(`${size} updates`)
      const runMs = await opened(`/runs/${name}`, /Seconds per update/)
      const curves = await frames(page, async () => {
        const box = (await page.locator('.uplot').first().boundingBox())!
        for (let step = 0; step < 60; step += 1) await page.mouse.move(box.x + 60 + step * 4, box.y + 60)
        for (let step = 0; step < 20; step += 1) await page.mouse.wheel(0, 120)
      })
      say(`${size} questions`)
      const questionsMs = await opened(`/runs/${name}?tab=questions`, new RegExp(`of ${size + 4} questions`))
      await page.locator('.table').hover()
      const list = await frames(page, async () => {
        for (let step = 0; step < 120; step += 1) await page.mouse.wheel(0, 900)
      })
      return {
        figures: {
          run_page_ms: runMs,
          questions_page_ms: questionsMs,
          frame_ms_p50_updates: curves.quantile(0.5),
          frame_ms_p95_updates: curves.quantile(0.95),
          frame_ms_p50_questions: list.quantile(0.5),
          frame_ms_p95_questions: list.quantile(0.95),
        },
        goals: {},
        size,
        frames: { updates: curves.summary(), questions: list.summary() },
      }
    } finally {
      await browser.close()
      await view.close()
    }
  } finally {
    rmSync(runs, { recursive: true, force: true })
  }
}

/** Times between frames while something happens. */
async function frames(page: Page, work: () => Promise<void>): Promise<Samples> {
  await page.evaluate(`window.frameTimes = []; window.isMeasuring = true
    let last = performance.now()
    const note = (now) => { window.frameTimes.push(now - last); last = now; if (window.isMeasuring) requestAnimationFrame(note) }
    requestAnimationFrame(note)`)
  await work()
  const times = await page.evaluate('window.isMeasuring = false; window.frameTimes')
  const samples = new Samples()
  for (const time of times as number[]) samples.add(time)
  return samples
}

/** A copy of the run with repeated updates and questions. */
function enlarge(runs: string, size: number): void {
  const [made] = readdirSync(runs)
  const folder = join(runs, name)
  mkdirSync(folder)
  cpSync(join(runs, made!), folder, { recursive: true })
  const record = join(folder, 'run.json')
  writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), name, updates: size }))
  const repeat = (file: string, numbered: (line: object, position: number) => object) => {
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    const all = Array.from({ length: size }, (_, position) =>
      numbered(lines[position % lines.length]!, position),
    )
    writeFileSync(file, all.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
  repeat(join(folder, 'events.jsonl'), (line, update) => ({ ...line, update }))
  for (const evaluation of readdirSync(join(folder, 'evaluations'), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  ))
    repeat(join(folder, 'evaluations', evaluation.name, 'records.jsonl'), (line, position) => ({
      ...line,
      task: `question-${position}`,
    }))
}
