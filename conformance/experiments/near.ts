import { D1RecordError } from '../../src/experiments/tables/d1-table.ts'
import { D3RecordError } from '../../src/experiments/tables/d3-statistics.ts'
import { Problem } from '../../src/problem.ts'

/** Input that was not accepted. */
export interface Refusal {
  readonly refused: unknown
}

/** Where values differ. Numbers have a tolerance, absolute and relative; everything else is exact. */
export function nearDifferences(expected: unknown, got: unknown, tolerance: number, path = ''): string[] {
  if (isRefusal(got)) return refusalDifferences(expected, got.refused)
  if (typeof expected === 'object' && expected !== null && 'error' in expected && path === '')
    return ['the input was not refused']
  if (typeof expected === 'number' && typeof got === 'number') {
    // Written so that NaN differs from everything.
    if (Math.abs(got - expected) <= tolerance + tolerance * Math.abs(expected)) return []
  } else if (Array.isArray(expected) && Array.isArray(got)) {
    if (expected.length === got.length)
      return expected.flatMap((value, index) =>
        nearDifferences(value, got[index], tolerance, `${path}[${index}]`),
      )
  } else if (isRecord(expected) && isRecord(got)) {
    return [...new Set([...Object.keys(expected), ...Object.keys(got)])].flatMap((key) =>
      nearDifferences(expected[key], got[key], tolerance, path === '' ? key : `${path}.${key}`),
    )
  } else if (expected === got) return []
  return [`${path}: expected ${show(expected)}, got ${show(got)}`]
}

function refusalDifferences(expected: unknown, refused: unknown): string[] {
  // An error that is not about the input is our bug, whatever was expected.
  if (!(refused instanceof Problem || refused instanceof RangeError)) return [String(refused)]
  if (!isRecord(expected) || !('error' in expected)) return [`it was refused: ${refused.message}`]
  if (expected['error'] === true) return []
  const reason =
    refused instanceof D1RecordError
      ? refused.reason
      : refused instanceof D3RecordError
        ? { reason: refused.reason, group: refused.group, trajectory: refused.trajectory }
        : refused.message
  return nearDifferences(expected['error'], reason, 0, 'error')
}

function isRefusal(value: unknown): value is Refusal {
  return isRecord(value) && 'refused' in value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function show(value: unknown): string {
  return typeof value === 'bigint' ? `${value}` : (JSON.stringify(value) ?? 'nothing').slice(0, 200)
}
