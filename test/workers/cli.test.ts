import { afterAll, beforeAll, expect, test } from 'vitest'
import { outputSchemas } from '../../scripts/output-schemas.ts'
import { canaryPassword, Postgres } from '../postgres/server.ts'
import { Commands, smallRun } from './commands.ts'

let postgres: Postgres
const magic = new Commands()
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(async () => {
  await postgres.stop()
  magic.remove()
})

test('a trainer and two workers reach the weights of one process, across a cap, and drain', async () => {
  const address = await postgres.database()
  expect(await magic.run(`train ${smallRun} --name alone`)).toMatchObject({ code: 0 })
  const refused = await magic.run(`train ${smallRun} --name first --workers`)
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('MAGIC_LEDGER') })

  const workers = ['blue', 'green'].map((name) =>
    magic.start(`worker --name ${name} --concurrency 4`, address),
  )
  const capped = await magic.run(`train ${smallRun} --name first --workers --max-calls 10`, address)
  expect(capped).toMatchObject({ code: 3 })
  expect(await magic.run('resume first --workers --max-calls 10000', address)).toMatchObject({ code: 0 })
  expect(magic.weights('first')).toEqual(magic.weights('alone'))
  expect(await magic.run('verify first', address)).toMatchObject({ code: 0 })

  const shown = await magic.run('workers --json', address)
  outputSchemas['workers']!.parse(JSON.parse(shown.out))
  expect(JSON.parse(shown.out).workers).toMatchObject([{ name: 'blue' }, { name: 'green' }])
  for (const { child } of workers) child.kill('SIGTERM')
  for (const { code, errors } of await Promise.all(workers.map(({ ended }) => ended))) {
    expect(code, errors).toBe(0)
    expect(errors).toContain('Done.')
    expect(errors).not.toContain('lease')
    expect(errors).not.toContain(canaryPassword)
  }
  expect(JSON.parse((await magic.run('workers --json', address)).out).workers).toEqual([])
})
