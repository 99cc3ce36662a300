import { quoted } from '../../src/experiments/report/quoted.ts'
import { nearDifferences } from './near.ts'

/** Compares the quoted figures in reports with those of the file. */
export function quotedDifferences({ kind: _, ...expected }: { kind: string }): string[] {
  return nearDifferences(expected, quoted, 0)
}
