// Golden scores. Each file's kind follows from the fields of its rows; a row that fits none is a failing case.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { tatqaAnswers } from '../src/benchmarks/tatqa.ts'
import { JsonNumber } from '../src/benchmarks/records.ts'
import { booleanReference, choiceReference, numberTextReference } from '../src/benchmarks/raw-reference.ts'
import type { TatqaReference } from '../src/benchmarks/reference.ts'
import { pythonNumberText } from '../src/numerics/python-float.ts'
import { booleanScorer } from '../src/scoring/boolean.ts'
import { choiceScorer } from '../src/scoring/choice.ts'
import { scoreD1Tatqa } from '../src/scoring/d1-tatqa.ts'
import { gsm8kScorer } from '../src/scoring/gsm8k.ts'
import type { Score } from '../src/scoring/scorer.ts'
import { measureTatqa, tatqaScorer } from '../src/scoring/tatqa.ts'
import type { CaseResult } from './case.ts'
import { runAggregateCases } from './scoring-aggregate.ts'

export async function* runScoringCases(folder: string): AsyncGenerator<CaseResult> {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    if (name.endsWith('.json')) yield* runAggregateCases(path, folder)
    if (name.endsWith('.jsonl')) yield* runLines(path, name)
  }
}
