import { pythonNumberText } from '../src/python/float.ts'
import { tatqaAnswers } from '../src/tasks/benchmarks/tatqa.ts'
import { scoreD1Tatqa } from '../src/tasks/scoring/d1-tatqa.ts'
import type { TatqaAnswerType, TatqaReference } from '../src/tasks/scoring/reference.ts'
import { measureTatqa, noMeasures, scoreTatqa, type TatqaMeasures } from '../src/tasks/scoring/tatqa.ts'
import { JsonNumber } from '../src/tasks/sources/records.ts'
import { difference } from './difference.ts'
import { parseWithSources } from './exact-json.ts'

interface Gold {
  readonly answer_type: TatqaAnswerType
  readonly answer: string | readonly string[] | JsonNumber
  readonly scale: string
}

function goldReference({ answer_type: answerType, answer, scale }: Gold): TatqaReference {
  const answers = tatqaAnswers(answerType, answer)
  if (answers === undefined) throw new Error(`the gold answer is not one of type ${answerType}`)
  return { kind: 'tatqa', answerType, answers, scale }
}

interface TatqaRow {
  readonly gold: Gold
  readonly pred: { readonly values: readonly (string | JsonNumber)[]; readonly scale: string }
  readonly contract_valid?: boolean
  readonly as_strings?: readonly string[]
  readonly expect: Record<keyof TatqaMeasures, JsonNumber>
}

/** Checks the official score, and that the strict contract accepts exactly the valid answers. */
export function tatqaFailure(line: string): string | undefined {
  const row = parseWithSources(line) as TatqaRow
  const { gold, pred } = row
  const reference = goldReference(gold)
  const values = pred.values.map((value) =>
    value instanceof JsonNumber ? pythonNumberText(value.source) : value,
  )
  const unscorable = typeof pred.scale !== 'string' || mixesTypes(pred.values)
  const measures = unscorable ? noMeasures : measureTatqa({ values, scale: pred.scale }, reference)
  const score = scoreTatqa(pred, reference)
  const { f1 } = row.contract_valid === false ? noMeasures : measures
  return (
    difference(row.as_strings ?? values, values, 'as_strings') ??
    measureDifference(row.expect, measures) ??
    difference(row.contract_valid === false ? 'invalid' : 'ok', score.parse, 'contract') ??
    difference(f1, score.score, 'score')
  )
}

function measureDifference(expect: TatqaRow['expect'], measures: TatqaMeasures): string | undefined {
  for (const name of ['em', 'f1', 'scale_em'] as const) {
    const expected = Number(expect[name].source)
    if (!(Math.abs(expected - measures[name]) <= 1e-9))
      return `${name}: expected ${expected}, got ${measures[name]}`
  }
  return undefined
}

/** The official scorer sorts the values, and Python cannot sort numbers among strings. */
function mixesTypes(values: readonly unknown[]): boolean {
  return new Set(values.map((value) => typeof value)).size > 1
}

interface D1Row {
  readonly gold: Gold
  readonly response: string
  readonly failures: readonly unknown[]
  readonly expect: {
    readonly extracted: string | null
    readonly score_correct: boolean
    readonly correct: boolean
  }
}

export function d1Failure(line: string): string | undefined {
  const { gold, response, failures, expect } = parseWithSources(line) as D1Row
  const { extracted, scoreCorrect, correct } = scoreD1Tatqa(response, goldReference(gold), failures)
  return difference(expect, { extracted, score_correct: scoreCorrect, correct }, 'expect')
}
