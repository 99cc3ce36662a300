import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { PostgresLedger } from '../../src/store/ledger/postgres.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { openEvaluator } from '../../src/training/training-evaluator.ts'
import { assignmentOf } from '../../src/workers/assignment.ts'
import { RemoteEvaluations } from '../../src/workers/remote-evaluations.ts'
import { runWorker } from '../../src/workers/worker.ts'
import { canaryPassword, Postgres } from '../postgres/server.ts'
import { tinyExecutor } from '../tiny-task-set.ts'
import { modelAround, tinyModel } from '../tiny-training.ts'
import {
  expectAccessible,
  newPagePerTest,
  openBrowser,
  openPage,
  type RunningView,
  startMagicViewIn,
} from './browser.ts'

const runs = mkdtempSync(join(tmpdir(), 'magic-view-workers-'))
let postgres: Postgres
let address: string
let browser: Browser
let view: RunningView
let page: Page

beforeAll(async () => {
  postgres = await Postgres.start()
  address = await postgres.database()
  view = await startMagicViewIn({ MAGIC_LEDGER: address }, '--runs-dir', runs)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await view?.close()
  await postgres.stop()
  rmSync(runs, { recursive: true, force: true })
})
newPagePerTest(
  () => openPage(browser, view),
  (opened) => {
    page = opened
  },
)

/** Checks that neither the database's address nor its password is shown. */
async function expectNoAddress(): Promise<void> {
  const content = `${await page.content()} ${await (await fetch(`${view.url}/api/workers`)).text()}`
  for (const secret of [
    canaryPassword,
    encodeURIComponent(canaryPassword),
    String(postgres.port),
    'postgres://',
  ])
    expect(content).not.toContain(secret)
}

test('without workers it says how to start one', async () => {
  await page.goto(`${view.url}/`)
  await page.getByRole('link', { name: 'Workers' }).click()
  await page.getByText('No workers are running').waitFor()
  await page.getByText('magic worker', { exact: true }).waitFor()
  await expectAccessible(page)
  await expectNoAddress()
})

test('shows live who works on what, what waits and how fast, and survives a database outage', async () => {
  const { parts } = tinyExecutor()
  const hostile = '<img src=x onerror=alert(1)>'
  const goOn = Promise.withResolvers<void>()
  const slow = modelAround(async (request, signal) => {
    await goOn.promise
    return tinyModel.ask(request, signal)
  })
  const database = await Database.open(new PostgresAddress(address), { connections: 12 })
  const namespace = randomUUID()
  await PostgresLedger.create(database, namespace, 'my-run')
  const ledger = await PostgresLedger.open(database, { name: namespace })
  const assignment = assignmentOf(parts, undefined)
  const remote = await RemoteEvaluations.open({ database, ledger, namespace, assignment })
  const drain = new AbortController()
  const worker = runWorker({
    ...{ database, name: hostile, calls: 2, leaseSeconds: 60, drain: drain.signal },
    open: async (_, { limit }) => ({ parts: { ...parts, model: slow, limit }, close: async () => {} }),
  })
  const { evaluate } = openEvaluator({ parts, ledger, requestReuse: true, make: remote.make })
  const tasks = parts.set.splits['train']!.tasks.slice(0, 10)
  const scores = Promise.all(tasks.map(({ id }) => evaluate(AgentGraph.empty, id)))

  await page.goto(`${view.url}/workers`)
  const row = page.getByRole('row', { name: /onerror/ })
  await row.getByText('my-run (4)').waitFor()
  expect(await row.innerText()).toContain(hostile)
  expect(await row.innerText()).toContain('working')
  const queue = page.getByRole('row', { name: /^my-run/ })
  expect(await queue.innerText()).toMatch(/my-run\s+6\s+4/)
  await page.getByText('up to 2 concurrent calls').waitFor()
  await expectAccessible(page)
  await expectNoAddress()

  await postgres.halt()
  await page.getByText(/cannot be reached. The page shows the last known state/).waitFor()
  await expectNoAddress()
  await postgres.restart()

  goOn.resolve()
  await scores
  await page.getByRole('row', { name: new RegExp(tinyModel.identity.model) }).waitFor()
  await queue.waitFor({ state: 'detached' })
  drain.abort()
  await worker
  await page.getByText('No workers are running').waitFor()
  await remote.close()
  await database.close()
})
