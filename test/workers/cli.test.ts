import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
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

test('a worker waits for its database, and stops when told to while it waits or is cut off', async () => {
  const late = await Postgres.start()
  const address = await late.database()
  await late.halt()
  const worker = magic.start('worker --name early --lease 2', address)
  let said = ''
  worker.child.stderr.on('data', (bytes: Buffer) => {
    said += bytes
  })
  const heard = async (text: string) => {
    while (!said.includes(text)) await sleep(50)
  }
  await heard('Waiting for the PostgreSQL at 127.0.0.1:')
  const impatient = magic.start('worker --name impatient', address)
  await once(impatient.child.stderr, 'data')
  impatient.child.kill('SIGTERM')
  expect(await impatient.ended).toMatchObject({
    code: 0,
    errors: expect.stringContaining('impatient: Done.'),
  })
  await late.restart()
  await heard('early: Working for ')
  await late.halt()
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0, errors: expect.stringContaining('early: Done.') })
  await late.stop()
})
