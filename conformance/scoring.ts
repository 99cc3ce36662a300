// Golden scores. A row's fields say what it is; an unknown row is a failing case.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { numberTextReference } from '../src/tasks/benchmarks/gsm8k.ts'
import { booleanReference, choiceReference } from '../src/tasks/scoring/exact-match.ts'
import { type AnswerReference, scoreAnswer } from '../src/tasks/scoring/reference-scorer.ts'
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
  const reference = referenceOf(row)
  const { score, parse } = scoreAnswer(row['answer'], reference)
  const known = row['reference_label'] ?? row['reference_bool'] ?? row['reference_value']
  const misread = known === undefined ? undefined : difference(known, contentOf(reference), 'reference')
  return misread ?? difference(row['expect'], { score, parse }, 'expect')
}

function contentOf(reference: AnswerReference): unknown {
  switch (reference.kind) {
    case 'choice':
      return reference.label
    case 'boolean':
      return reference.value
    case 'number-text':
      return reference.text
    case 'tatqa':
      return reference.answers
  }
}

/** The raw reference, as the benchmark's loader expects it. */
function referenceOf({ benchmark, reference }: Record<string, unknown>): AnswerReference {
  switch (benchmark) {
    case 'mmlu_pro':
    case 'aqua':
      return choiceReference(reference as number | string)
    case 'strategyqa':
    case 'tabfact':
      return understood(booleanReference(reference as boolean | number | string))
    case 'gsm8k':
      return understood(numberTextReference(reference as string))
    default:
      throw new Error(`there is no benchmark ${benchmark}`)
  }
}

function understood<R>(reference: R | undefined): R {
  if (reference === undefined) throw new Error('cannot read the reference')
  return reference
}
