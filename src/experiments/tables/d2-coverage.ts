import { Problem } from '../../problem.ts'

/** A whole number, 0 or more; a bigint if a double is not exact. */
type Count = number | bigint

/** With m roles that have both realizations there are 2^m assignments; B executions verify at most min(2^m, B) of them. */
export function coverageBound(m: Count, executions: Count) {
  const [roles, budget] = [whole(m, 'm'), whole(executions, 'The number of executions')]
  const configurations = 2n ** roles
  const isEnough = budget >= configurations
  const verifiedBound = isEnough ? configurations : budget
  return { configurations, verifiedBound, coverageBound: ratio(verifiedBound, configurations, roles) }
}

/** The coverage reached by executions in order: repeating an assignment uses budget but adds nothing. */
export function verifiedCoverage(m: Count, executions: Count, assignments: readonly string[]) {
  const { configurations } = coverageBound(m, executions)
  for (const assignment of assignments)
    if (BigInt(assignment.length) !== BigInt(m) || !/^[AG]*$/.test(assignment))
      throw new Problem(
        `'${assignment}' is not an assignment of ${m} roles: give one letter, A or G, for each.`,
      )
  const counted = BigInt(executions) < BigInt(assignments.length) ? Number(executions) : assignments.length
  const verified = new Set(assignments.slice(0, counted)).size
  return { verified, coverage: ratio(BigInt(verified), configurations, BigInt(m)) }
}

/** The smallest budget whose bound reaches a given share of all assignments. */
export function executionsForShare(m: Count, [numerator, denominator]: readonly [Count, Count]): bigint {
  const [part, of] = [whole(numerator, 'The share'), whole(denominator, "The share's denominator")]
  if (of === 0n || part > of) throw new Problem(`A share must be from 0 to 1, not ${part}/${of}.`)
  return (part * coverageBound(m, 0).configurations + of - 1n) / of
}

/** The ratio of numbers that may be too large for doubles. */
function ratio(part: bigint, of: bigint, roles: bigint): number {
  const shift = roles > 1000n ? roles - 1000n : 0n
  return Number(part >> shift) / Number(of >> shift)
}

function whole(value: Count, what: string): bigint {
  if (typeof value === 'number' && !Number.isInteger(value)) throw notWhole(value, what)
  const exact = BigInt(value)
  if (exact < 0n) throw notWhole(value, what)
  return exact
}

function notWhole(value: Count, what: string): Problem {
  return new Problem(`${what} must be a whole number, 0 or more; it is ${value}.`)
}
