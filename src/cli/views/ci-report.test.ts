import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { EvaluatedOrganisation } from '../../evaluation/evaluate.ts'
import { organisationReport, type QuestionRecord } from '../../evaluation/organisation-report.ts'
import { noUsage } from '../../models/usage.ts'
import { Budget } from '../../store/budget.ts'
import { githubSummary, junitXml, writeGithubSummary } from './ci-report.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-ci-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const hostile = ']]><script>&"\u0000\u001b[2J\ud800 | *x*'
function record(task: string, more: Partial<QuestionRecord>): QuestionRecord {
  return {
    ...{ task, graph: { units: [] }, graphKey: 'k', score: 1, parse: 'ok', status: 'answered', answer: '4' },
    ...{ failures: [], usage: { ...noUsage, input: 10, calls: 1 }, cost: 'unpriced', durationMs: 1500 },
    ...{ execution: 'e', ...more },
  } as QuestionRecord
}
const records = [
  record('right', {}),
  record('wrong', { score: 0.5, answer: hostile, expected: { value: hostile } }),
  record(hostile, { score: 0, status: 'unanswered', answer: undefined }),
]
const about = { organisation: 'trained', description: '', split: 'test', tasks: 3 }
const evaluated: EvaluatedOrganisation[] = [
  {
    ...organisationReport(about, records),
    metric: 'accuracy',
    model: 'simulated/simulated',
    spent: new Budget({}, undefined).spent,
  },
]

test('JUnit XML has one case per question and says why it failed', () => {
  const xml = junitXml('first', evaluated)
  expect(xml).toContain(
    '<testsuite name="first: trained on test" tests="3" failures="1" errors="1" time="4.500">',
  )
  expect(xml).toContain('<testcase classname="trained" name="right" time="1.500"/>')
  expect(xml).toContain('<failure message="score 0.5">score 0.5\ngiven: ')
  expect(xml).toContain('<error message="score 0">score 0\nno answer: unanswered</error>')
})

test('model output stays text, and the XML stays well-formed', () => {
  const xml = junitXml('first', evaluated)
  expect(xml).not.toContain('<script')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
  expect(xml.isWellFormed()).toBe(true)
  const open: string[] = []
  for (const [, close, name, self] of xml.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    if (close) expect(open.pop()).toBe(name)
    else if (!self) open.push(name!)
  }
  expect(open).toEqual([])
})

test('the GitHub summary is a table and marks simulated scores', () => {
  const text = githubSummary('first|x', evaluated, true)
  expect(text).toContain('### first&#124;x: accuracy on test questions')
  expect(text).toMatch(/\| trained \| 50\.0 % \[.*\] \| 3 \| 10 \| free \| 1 \|/)
  expect(text).toContain('3 questions can show a difference of ')
  expect(text).toContain('The scores are simulated')
})

test('the summary is appended to the file GitHub names; elsewhere the flag is refused', () => {
  const file = join(work, 'summary.md')
  writeGithubSummary('one\n', { GITHUB_STEP_SUMMARY: file })
  writeGithubSummary('two\n', { GITHUB_STEP_SUMMARY: file })
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n')
  expect(() => writeGithubSummary('', {})).toThrow(/needs the variable GITHUB_STEP_SUMMARY/)
})
