import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LoggedServer, Trainer } from './processes.ts'

// A disk of a few megabytes that is really full: a tmpfs visible only in its own mount namespace.
const work = mkdtempSync(join(tmpdir(), 'magic-full-'))
const disk = join(work, 'disk')
const reference = join(work, 'reference')
const megabytes = 8
const hasBubblewrap = spawnSync('bwrap', ['--version']).status === 0
let server: LoggedServer
beforeAll(async () => {
  mkdirSync(disk)
  server = await LoggedServer.start(join(work, 'server.log'))
  expect((await new Trainer(reference, server.url).ended).code).toBe(0)
})
afterAll(async () => {
  await server.close()
  rmSync(work, { recursive: true, force: true })
})

test.skipIf(!hasBubblewrap && process.env.CI !== 'true').each([
  [
    'the first checkpoint',
    200_000,
    /^CheckpointWriteError: The checkpoint .*update-000000 \(\d+ bytes\) cannot be .*ENOSPC/,
  ],
  [
    // Whichever needs the next page first.
    'the ledger and the journal of calls',
    1_500_000,
    /^(?:LedgerError: The disk is full: \d+ more bytes do not fit into the ledger|DiskError: .*calls\.jsonl could not be written \(ENOSPC).*free some disk space/i,
  ],
])('a disk without room for %s ends the run, which continues once there is room', (_, free, message) => {
  const node = (script: string) => `"${process.execPath}" "${new URL(script, import.meta.url).pathname}"`
  const script = `
    head -c ${megabytes * 1024 * 1024 - free} /dev/zero > ${disk}/filler
    ${node('train-run.ts')} ${disk}/run ${server.url} > ${work}/run.acks && echo 'It found room.' >&2
    rm ${disk}/filler
    cp ${work}/run.acks ${disk}/run.acks
    exec ${node('verify.ts')} ${disk}/run ${server.url} ${reference}`
  const words = [
    '--dev-bind',
    '/',
    '/',
    '--size',
    String(megabytes * 1024 * 1024),
    '--tmpfs',
    disk,
    'sh',
    '-c',
    script,
  ]
  const { status, stdout, stderr } = spawnSync('bwrap', words, { encoding: 'utf8' })
  expect(stderr).toMatch(message)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(stdout)).toMatchObject({ repeated: expect.any(Number) })
  expect(status).toBe(0)
})
