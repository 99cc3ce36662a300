// Golden draws of Python's generator (python_random.json) and the study subsets made from them (memberships.json). A file's
// content tells which it is.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { CaseResult } from './case.ts'
import { parseWithBigints } from './exact-json.ts'
import { runMembershipCases } from './sampling-memberships.ts'
import { runRandomCases } from './sampling-random.ts'

export async function* runSamplingCases(folder: string): AsyncGenerator<CaseResult> {
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.json')) continue
    const path = join(folder, name)
    try {
      const content = parseWithBigints(readFileSync(path, 'utf8')) as Record<string, unknown>
      // Draws are lists, memberships are objects.
      const hasDraws = Object.values(content).some((value) => Array.isArray(value))
      if (hasDraws) yield* runRandomCases(content, basename(path))
      else yield* runMembershipCases(content, folder, basename(path))
    } catch (error) {
      yield { name, failure: error instanceof Error ? error.message : String(error) }
    }
  }
}
