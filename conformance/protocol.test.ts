import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeShared, sharedPath } from '../test/shared.ts'
import { runProtocolCases } from './protocol.ts'

describeShared('protocol responses', () => {
  const results = [...runProtocolCases(sharedPath('conformance/protocol'))]
  test('there are cases', () => expect(results.length).toBeGreaterThan(90))
  test.each(results)('$name', ({ failure }) => expect(failure).toBeUndefined())
})

test('wrong expectations and broken lines fail without ending the run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'protocol-'))
  const one = (id: string, changes: object) =>
    JSON.stringify({
      id,
      name: '',
      node: 'finalizer',
      benchmark: 'aqua',
      raw: '{"analysis":"x","answer":"A"}',
      expect: { class: 'content', answer: 'A' },
      ...changes,
    })
  const lines = [
    one('right', {}),
    one('other-answer', { expect: { class: 'content', answer: 'B' } }),
    one('other-class', { expect: { class: 'null_answer' } }),
    one('other-reason', { raw: '{', expect: { class: 'format_failure', reason: 'wrong_type' } }),
    one('no-such-benchmark', { benchmark: 'toString' }),
    '{broken',
  ]
  writeFileSync(join(folder, 'responses.jsonl'), lines.join('\n'))
  const outcomes = [...runProtocolCases(folder)].map(({ failure }) => failure === undefined)
  rmSync(folder, { recursive: true })
  expect(outcomes).toEqual([true, false, false, false, false, false])
  expect([...runProtocolCases(folder)]).toMatchObject([{ failure: 'no such file' }])
})
