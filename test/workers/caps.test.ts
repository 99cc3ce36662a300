import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { byWorkers } from '../../src/cli/options/workers-option.ts'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { runWorker } from '../../src/workers/worker.ts'
import { Postgres } from '../postgres/server.ts'
import { tinyExecutor } from '../tiny-task-set.ts'
import { learned, modelAround, tinyModel, trainTiny } from '../tiny-training.ts'

const calls = 4
const workers = 2

let postgres: Postgres
const folder = mkdtempSync(join(tmpdir(), 'magic-caps-'))
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(async () => {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('a cap stops the workers, with at most the calls in flight beyond it; a resume reaches the same weights', async () => {
  const alone = join(folder, 'alone')
  const whole = await trainTiny(alone)
  const address = await postgres.database()
  const database = await Database.open(new PostgresAddress(address), { connections: 20 })
  const drain = new AbortController()
  const asked = new Set<string>()
  const counted = modelAround(async (request, signal) => {
    asked.add(JSON.stringify(request))
    // Some calls are still under way when others reach the cap.
    await sleep((37 * asked.size) % 400)
    return tinyModel.ask(request, signal)
  })
  const { parts } = tinyExecutor()
  const working = Array.from({ length: workers }, (_, number) =>
    runWorker({
      ...{ database, name: `worker-${number}`, calls, leaseSeconds: 120, drain: drain.signal },
      open: async (_, { limit }) => ({
        parts: { ...parts, model: counted, limit },
        close: async () => {},
      }),
    }),
  )
  const there = join(folder, 'there')
  const step = (budget: { readonly calls?: number }) =>
    trainTiny(there, { database: address, elsewhere: byWorkers(() => {}), budget })

  const cap = Math.floor(whole.spent.calls / 3)
  const stopped = await step({ calls: cap })
  expect(stopped).toMatchObject({ status: 'budget-reached', cap: { name: 'calls' } })
  expect(stopped.done).toBeLessThan(whole.done)
  expect(stopped.spent.calls).toBe(counted.calls)
  expect(counted.calls).toBeGreaterThanOrEqual(cap)
  expect(counted.calls - cap).toBeLessThanOrEqual(workers * calls)
  expect(stopped.cap!.overshoot).toBe(counted.calls - cap)

  // With the same cap nothing more is asked.
  expect(await step({ calls: cap })).toMatchObject({ status: 'budget-reached' })
  expect(counted.calls).toBe(stopped.spent.calls)

  const finished = await step({ calls: 2 * whole.spent.calls })
  expect(finished).toMatchObject({ status: 'finished', done: whole.done })
  expect(learned(there)).toEqual(learned(alone))
  // Calls answered before the cap are not repeated.
  expect(asked.size).toBe(counted.calls)
  expect(finished.spent.calls).toBe(counted.calls)
  drain.abort()
  await Promise.all(working)
  await database.close()
})
