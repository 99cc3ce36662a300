import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { CallJournal } from './call-journal.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-calls-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'calls.log')

test('what was begun, did not fail and was not kept was in flight, and is told once', () => {
  const first = new CallJournal(path)
  expect(first.takeInFlight(0)).toBe(0)
  for (let call = 0; call < 9; call += 1) first.begin()
  first.fail()
  first.fail()
  // The process is killed: nothing is closed.
  expect(readFileSync(path, 'utf8')).toBe('+++++++++--')
  const second = new CallJournal(path)
  expect(second.takeInFlight(4)).toBe(3)
  expect(second.takeInFlight(4)).toBe(0)
  second.begin()
  second.close()
  expect(new CallJournal(path).takeInFlight(5)).toBe(0)
})

test('more answers than calls, as after a power loss, are no calls in flight', () => {
  expect(new CallJournal(join(folder, 'other.log')).takeInFlight(7)).toBe(0)
})

test('where it cannot be written the path is named', () => {
  expect(() => new CallJournal(join(folder, 'none', 'calls.log'))).toThrow(
    /none\/calls.log could not be written \(ENOENT/,
  )
})
