import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Postgres } from '../postgres/server.ts'
import { Commands, smallRun } from './commands.ts'

let postgres: Postgres
let address: string
const magic = new Commands()
let worker: ReturnType<Commands['start']>

// The same run twice: `alone` in its folder, and `shared` with its ledger on PostgreSQL.
beforeAll(async () => {
  postgres = await Postgres.start()
  address = await postgres.database()
  worker = magic.start('worker --name blue', address)
  expect(await magic.run(`train ${smallRun} --name alone`)).toMatchObject({ code: 0 })
  expect(await magic.run(`train ${smallRun} --name shared --workers`, address)).toMatchObject({ code: 0 })
})
afterAll(async () => {
  worker.child.kill('SIGTERM')
  await worker.ended
  await postgres.stop()
  magic.remove()
})

/** A finalizer other than the default. */
const votingGraph = {
  units: [
    { role: 'task_decomposer', realization: 'atomic', predecessors: [] },
    { role: 'independent_solver', realization: 'group', predecessors: [0] },
    { role: 'quantitative_modeler', realization: 'atomic', predecessors: [] },
  ],
  finalizer: 'vote',
}

function facts({ out }: { out: string }) {
  const { evaluations, used } = JSON.parse(out)
  return {
    ...{ calls: used.calls, tokens: used.tokens },
    each: evaluations.map(({ organisation, score, tokens, n, complete }: Record<string, unknown>) => ({
      ...{ organisation, score, tokens, n, complete },
    })),
  }
}

async function bothWays(options: string) {
  const here = await magic.run(`eval alone ${options} --json`)
  const there = await magic.run(`eval shared --workers ${options} --json`, address)
  expect(here, here.errors).toMatchObject({ code: 0 })
  expect(there, there.errors).toMatchObject({ code: 0 })
  expect(facts(there)).toEqual(facts(here))
  return { ...facts(there), errors: there.errors }
}

test('every organisation scores as in one process; a driver organisation runs locally and says so', async () => {
  writeFileSync(join(magic.folder, 'vote.json'), JSON.stringify(votingGraph))
  const { errors } = await bothWays(
    '--organisation trained,graph:vote.json,searched,llm-debate,autogen --limit 3',
  )
  expect(errors).toContain('autogen decides step by step')
})

test('interventions reach the workers', async () => {
  const plain = await bothWays('--limit 6 --seed 3')
  const disturbed = await bothWays('--limit 6 --seed 3 --corrupt-message 0.5 --fail-worker 0.5')
  expect(disturbed.each[0].organisation).toContain('corrupted')
  expect(disturbed.calls).toBeLessThan(plain.calls)
})

test("the paper's rule for an unreachable model holds on workers", async () => {
  await bothWays('--transport-failures zero --limit 4')
})

test('calls answered before a cap are not repeated, and a complete evaluation leaves no ledger', async () => {
  const capped = await magic.run('eval shared --workers --seed 5 --max-calls 3 --json', address)
  expect(capped, capped.errors).toMatchObject({ code: 3 })
  const rest = await magic.run('eval shared --workers --seed 5 --json', address)
  expect(rest, rest.errors).toMatchObject({ code: 0 })
  const all = await magic.run('eval alone --seed 5 --json')
  const callsOf = ({ out }: { out: string }) => JSON.parse(out).used.calls
  expect(callsOf(capped) + callsOf(rest)).toBe(callsOf(all))
  const { out } = await magic.run('ledger list --json', address)
  expect(JSON.parse(out).map(({ title }: { title: string }) => title)).toEqual(['shared'])
})
