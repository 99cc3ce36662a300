import { appendFileSync } from 'node:fs'
import type { EvaluatedOrganisation } from '../../evaluation/evaluate.ts'
import { visibleText } from '../../graph/render/visible-text.ts'
import { scoreWithInterval, tokens } from '../display/numbers.ts'
import { UsageError } from '../problem.ts'
import { costText, detectableText, simulatedNote } from './evaluation-table.ts'
import { valueText } from './question-view.ts'

/** JUnit XML: one suite per organisation, one case per question. A question without full score fails. */
export function junitXml(run: string, evaluated: readonly EvaluatedOrganisation[]): string {
  const suites = evaluated.map(({ organisation, split, n, records, durationMs }) => {
    const cases = records.map((record) => {
      const { task, score, status, answer, expected, durationMs: took } = record
      const head = `    <testcase classname="${xml(organisation)}" name="${xml(task)}" time="${seconds(took)}"`
      if (score === 1) return `${head}/>`
      const given = answer === undefined ? `no answer: ${status}` : `given: ${shown(answer)}`
      const text = `score ${score}\n${given}${expected === undefined ? '' : `\nexpected: ${shown(expected)}`}`
      const kind = status === 'answered' ? 'failure' : 'error'
      return `${head}>\n      <${kind} message="${xml(`score ${score}`)}">${xml(text)}</${kind}>\n    </testcase>`
    })
    const errors = records.filter(({ status }) => status !== 'answered').length
    const failures = records.filter(({ score, status }) => score < 1 && status === 'answered').length
    return [
      `  <testsuite name="${xml(`${run}: ${organisation} on ${split}`)}" tests="${n}" failures="${failures}" errors="${errors}" time="${seconds(durationMs * n)}">`,
      ...cases,
      '  </testsuite>',
    ].join('\n')
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

const longestShown = 2000

function shown(value: Parameters<typeof valueText>[0]): string {
  const text = valueText(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)} …` : text
}

/** Model output is untrusted: escapes markup, and characters that XML forbids even when escaped. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replace(
      /[^\n\t\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** The results as Markdown for a GitHub job's summary. */
export function githubSummary(
  run: string,
  evaluated: readonly EvaluatedOrganisation[],
  isSimulated: boolean,
): string {
  const rows = evaluated.map(({ organisation, score, n, total, tokens: used, cost, failures }) =>
    [
      markdown(organisation),
      scoreWithInterval(score),
      n === total ? `${n}` : `${n} of ${total}`,
      tokens(used.total),
      costText(cost, isSimulated),
      `${failures.unanswered}`,
    ].join(' | '),
  )
  const detectable = evaluated.length === 0 ? '' : `${detectableText(evaluated)}\n`
  return [
    `### ${markdown(run)}: ${markdown(evaluated[0]?.metric ?? 'score')} on ${markdown(evaluated[0]?.split ?? '')} questions\n`,
    '| organisation | score [95 %] | questions | tokens/q | cost | failed |\n|---|---|---|---|---|---|\n',
    ...rows.map((row) => `| ${row} |\n`),
    `\n${detectable}${isSimulated ? `\n${simulatedNote}\n` : ''}\n`,
  ].join('')
}

/** Escapes Markdown and HTML. */
function markdown(text: string): string {
  return visibleText(text).replace(/[\\`*_{}[\]<>()#+!|&~-]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Appends to the summary of the current GitHub job. */
export function writeGithubSummary(text: string, environment = process.env): void {
  const file = environment['GITHUB_STEP_SUMMARY']
  if (!file)
    throw new UsageError(
      '--github-summary needs the variable GITHUB_STEP_SUMMARY, which GitHub jobs set. Elsewhere, set it to a file.',
    )
  appendFileSync(file, text)
}
