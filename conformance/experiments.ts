// Golden values of the experiments. A file's `kind` says what its cases are about.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CaseResult } from './case.ts'
import { parseWithBigints } from './exact-json.ts'
import { nearDifferences, type Refusal } from './experiments/near.ts'
import { quotedDifferences } from './experiments/quoted.ts'
import { candidatesOf, refinementOf, routeOf } from './experiments/search.ts'
import { imitationCases } from './experiments/sft-loss.ts'
import {
  ablationOf,
  accountOf,
  budgetOf,
  type Computed,
  coverageOf,
  creditOf,
  frontierOf,
  granularityOf,
  seedsOf,
  selectionOf,
} from './experiments/tables.ts'
import { describeError, outcome } from './policy/outcome.ts'

// biome-ignore lint/suspicious/noExplicitAny: golden input, whose fields its own kind reads.
type Golden = any

/** Our result for a case's input, by kind. */
const computed: Readonly<Record<string, (golden: Golden) => Computed | Promise<Computed>>> = {
  d1_table: granularityOf,
  d2_bound: coverageOf,
  d3_selection: selectionOf,
  d3_statistics: creditOf,
  matched_budget: budgetOf,
  pareto: frontierOf,
  q2_table: ablationOf,
  q3_stage_accounting: accountOf,
  seed_summary: seedsOf,
  sft_candidates: candidatesOf,
  sft_refinement: refinementOf,
  sft_route: routeOf,
}

/** Methods to compute Student's quantile differ slightly. */
const tolerances: Readonly<Record<string, number>> = { seed_summary: 1e-7 }

export async function* runExperimentCases(folder: string): AsyncGenerator<CaseResult> {
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.json')) continue
    try {
      yield* casesOf(parseWithBigints(readFileSync(join(folder, name), 'utf8')), name, folder)
    } catch (error) {
      yield { name, failure: describeError(error) }
    }
  }
}

async function* casesOf(content: Golden, file: string, folder: string): AsyncGenerator<CaseResult> {
  const kind: string = content?.kind
  if (kind === 'quoted') yield outcome(file, () => quotedDifferences(content))
  else if (kind === 'sft_loss' || kind === 'sft_loss_full') yield* imitationCases(content, file, folder)
  else {
    const compute = Object.hasOwn(computed, kind ?? '') ? computed[kind]! : undefined
    if (compute === undefined) throw new Error(`there is no kind '${kind}' of experiment cases`)
    if (!Array.isArray(content.cases) || content.cases.length === 0) throw new Error('it has no cases')
    for (const golden of content.cases) {
      const got = await attempt(() => compute(golden))
      yield outcome(`${file} ${golden.name}`, () =>
        nearDifferences(golden.expected, got, tolerances[kind] ?? 1e-9),
      )
    }
  }
}

/** The result, or the rejection as golden files write it. */
async function attempt(compute: () => Computed | Promise<Computed>): Promise<Computed | Refusal> {
  try {
    return await compute()
  } catch (error) {
    return { refused: error }
  }
}
