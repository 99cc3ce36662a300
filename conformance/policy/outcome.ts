import { z } from 'zod'
import type { CaseResult } from '../case.ts'

/** A thousand wrong gradients are one finding; the first few show where to look. */
const shown = 4

/** Differences are a failure, and so is an exception: a case that cannot be read or computed has not passed. */
export function outcome(name: string, check: () => readonly string[]): CaseResult {
  try {
    const differences = check()
    if (differences.length === 0) return { name }
    const more = differences.length - shown
    const list = differences.slice(0, shown).join('; ')
    return { name, failure: more > 0 ? `${list}; and ${more} more` : list }
  } catch (error) {
    return { name, failure: describeError(error) }
  }
}

export function describeError(error: unknown): string {
  if (!(error instanceof z.ZodError)) return String(error)
  const problems = error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim())
  return `malformed: ${problems.slice(0, shown).join('; ')}`
}
