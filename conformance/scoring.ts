// Golden scores. What a row is follows from its fields; a row that fits nothing is a failing case.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { booleanReference, choiceReference, numberTextReference } from '../src/benchmarks/raw-reference.ts'
import { booleanScorer } from '../src/scoring/boolean.ts'
import { choiceScorer } from '../src/scoring/choice.ts'
import { gsm8kScorer } from '../src/scoring/gsm8k.ts'
import type { Score } from '../src/scoring/scorer.ts'
import type { CaseResult } from './case.ts'
import { difference } from './difference.ts'
import { runAggregateCases } from './scoring-aggregate.ts'
import { d1Failure, tatqaFailure } from './scoring-tatqa.ts'

export async function* runScoringCases(folder: string): AsyncGenerator<CaseResult> {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    if (name.endsWith('.json')) yield* runAggregateCases(path, folder)
    if (!name.endsWith('.jsonl')) continue
    for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries())
      if (line.trim() !== '') yield resultOf(line, `${name} line ${index + 1}`)
  }
}

function resultOf(line: string, place: string): CaseResult {
  let name = place
  try {
    const row = JSON.parse(line) as Record<string, unknown>
    if (typeof row['id'] === 'string') name = `${place} ${row['id']}`
    const failure = failureOf(row, line)
    return failure === undefined ? { name } : { name, failure }
  } catch (error) {
    return { name, failure: error instanceof Error ? error.message : String(error) }
  }
}

function failureOf(row: Record<string, unknown>, line: string): string | undefined {
  if ('pred' in row) return tatqaFailure(line)
  if ('response' in row) return d1Failure(line)
  if (!('answer' in row && 'reference' in row)) return 'the fields of this row are of no known kind'
  const { reference, score } = simpleScore(row as unknown as SimpleRow)
  const known = row['reference_label'] ?? row['reference_bool'] ?? row['reference_value'] ?? reference
  return difference(known, reference, 'reference') ?? difference(row['expect'], score, 'expect')
}

interface SimpleRow {
  readonly benchmark: string
  readonly reference: never
  readonly answer: unknown
}

/** MMLU-Pro and AQuA-RAT, StrategyQA and TabFact, GSM8K: what we make of the raw reference, and our score. */
function simpleScore({ benchmark, reference, answer }: SimpleRow): { reference: unknown; score: object } {
  switch (benchmark) {
    case 'mmlu_pro':
    case 'aqua': {
      const choice = choiceReference(reference)
      return { reference: choice.label, score: shown(choiceScorer.score(answer, choice)) }
    }
    case 'strategyqa':
    case 'tabfact': {
      const truth = booleanReference(reference)
      if (truth === undefined) throw new Error(`the reference ${JSON.stringify(reference)} is not understood`)
      return { reference: truth.value, score: shown(booleanScorer.score(answer, truth)) }
    }
    case 'gsm8k': {
      const text = numberTextReference(reference)
      if (text === undefined) throw new Error("the reference has no '####'")
      return { reference: text.text, score: shown(gsm8kScorer.score(answer, text)) }
    }
    default:
      throw new Error(`there is no benchmark ${benchmark}`)
  }
}

function shown(score: Score | Promise<Score>): object {
  const { score: value, parse } = score as Score
  return { score: value, parse }
}
