import { expect, test } from 'vitest'
import { plainScreen } from '../../../test/plain-screen.ts'
import type { QuestionDetail } from '../../evaluation/question-detail.ts'
import { noUsage } from '../../models/usage.ts'
import { questionLines } from './question-view.ts'

const hostile = '\u001b]0;owned\u0007\u001b[2J<img onerror=alert(1)>\r \u202e \u009b31m'

function detail(text: string): QuestionDetail {
  const call = { system: text, user: text, reply: text, startMs: 0, durationMs: 1, attempts: [] }
  const node = {
    node: 'u0',
    name: text,
    role: text,
    executor: text,
    part: 'atomic',
    status: 'ok',
    reason: text,
  }
  const tool = { tool: text, payload: { text }, observation: { text }, startMs: 0, durationMs: 1 }
  return {
    run: text,
    organisation: text,
    split: text,
    model: 'simulated/simulated',
    record: {
      task: text,
      question: text,
      options: [{ label: text, text }],
      expected: text,
      answer: text,
      graph: { units: [{ role: 'a', realization: 'atomic', predecessors: [] }] },
      graphKey: 'key',
      score: 0.5,
      parse: 'ok',
      status: 'answered',
      measures: { [text]: 1 },
      program: text,
      failures: [{ node: text, status: 'model_failure', reason: text }],
      usage: { ...noUsage, calls: 1, attempts: 3 },
      cost: 'unpriced',
      durationMs: 10,
      execution: 'e',
    },
    transcript: [
      { ...node, startMs: 0, durationMs: 1, calls: [call], tool },
    ] as unknown as QuestionDetail['transcript'],
  }
}

test.each([40, 80, Number.POSITIVE_INFINITY])(
  'model and dataset text cannot drive a terminal of %f columns',
  (columns) => {
    const shown = plainScreen(columns).text(questionLines([detail(hostile)], plainScreen(columns)))
    expect(shown.split('onerror').length).toBeGreaterThan(10)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  },
)

test('a megabyte of text is cut with a notice', () => {
  const shown = plainScreen().text(questionLines([detail('x'.repeat(1_000_000))], plainScreen()))
  expect(shown).toContain('994000 more characters; --json has them')
})

test('shows retried attempts, that the model is simulated, and what was not kept', () => {
  const { transcript: _, ...without } = detail('word')
  const { question: __, expected: ___, ...record } = without.record
  const shown = plainScreen().text(questionLines([{ ...without, record }], plainScreen()))
  expect(shown).toContain('1 call and 2 retries')
  expect(shown).toContain('The scores are simulated')
  expect(shown).toContain('no transcript was stored')
  expect(shown).toContain('the question was not stored')
})
