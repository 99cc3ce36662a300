import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseWithSources } from '../../conformance/exact-json.ts'
import { pythonNumberText } from '../../src/python/float.ts'
import { tatqaAnswers } from '../../src/tasks/benchmarks/tatqa.ts'
import type { TatqaAnswerType } from '../../src/tasks/scoring/reference.ts'
import { measureTatqa, type TatqaMeasures } from '../../src/tasks/scoring/tatqa.ts'
import { JsonNumber } from '../../src/tasks/sources/records.ts'
import { Samples, timed } from '../bench.ts'

interface Gold {
  readonly answer_type: TatqaAnswerType
  readonly answer: string | readonly string[] | JsonNumber
  readonly scale: string
}

interface Row {
  readonly gold: Gold
  readonly values: readonly string[]
  readonly scale: string
}

const script = fileURLToPath(new URL('../python/tatqa_plain.py', import.meta.url))

/** Our scorer against the same rules in plain Python, each on one core, on every golden case that both can read. */
export function measureTatqaScorer(goldens: string, python: string, rounds: number) {
  const lines = readFileSync(goldens, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && readRow(line) !== undefined)
  const rows = lines.map((line) => readRow(line)!)
  const input = `${lines.join('\n')}\n`
  const run = (...options: string[]) =>
    execFileSync(python, ['-B', script, ...options], { input, encoding: 'utf8', maxBuffer: 2 ** 26 })
  compare(rows, run())
  const ours = new Samples()
  const theirs = new Samples()
  const ratios = new Samples()
  const scoreAll = () => {
    for (const row of rows) score(row)
  }
  for (let warm = 0; warm < 5; warm += 1) scoreAll()
  for (let round = 0; round < rounds; round += 1) {
    // The fastest of three passes on each side, alternating.
    const own = Math.min(timed(scoreAll), timed(scoreAll), timed(scoreAll))
    const peer = 1000 * Number(run('--time', '3'))
    ours.add(own)
    theirs.add(peer)
    ratios.add(peer / own)
  }
  return {
    speedup: ratios.median,
    details: {
      cases: rows.length,
      milliseconds: { ours: ours.summary(), python: theirs.summary() },
      rowsPerSecond: Math.round((1000 * rows.length) / ours.median),
    },
  }
}

/** Undefined for a prediction that no scorer can sort: numbers among strings, or a scale that is not text. */
function readRow(line: string): Row | undefined {
  const { gold, pred } = parseWithSources(line) as {
    gold: Gold
    pred: { values: readonly (string | JsonNumber)[]; scale: unknown }
  }
  const mixed = new Set(pred.values.map((value) => typeof value)).size > 1
  if (mixed || typeof pred.scale !== 'string') return undefined
  const values = pred.values.map((value) =>
    value instanceof JsonNumber ? pythonNumberText(value.source) : value,
  )
  return { gold, values, scale: pred.scale }
}

/** From the raw gold answer, as Python does. */
function score({ gold, values, scale }: Row): TatqaMeasures {
  const { answer_type: answerType } = gold
  const answers = tatqaAnswers(answerType, gold.answer)!
  return measureTatqa({ values, scale }, { kind: 'tatqa', answerType, answers, scale: gold.scale })
}

/** Checks, by their scores, that both sides do the same work. */
function compare(rows: readonly Row[], printed: string): void {
  const theirs = printed.trim().split('\n')
  if (theirs.length !== rows.length) throw new Error('The Python scorer skipped cases.')
  for (const [index, row] of rows.entries()) {
    const { em, f1, scale_em } = score(row)
    const [theirEm, theirF1, theirScale] = JSON.parse(theirs[index]!) as [number, number, number]
    if (em !== theirEm || Math.abs(f1 - theirF1) > 1e-9 || scale_em !== theirScale)
      throw new Error(
        `The scorers disagree on case ${index + 1}: ${[em, f1, scale_em]} and ${theirs[index]}.`,
      )
  }
}
