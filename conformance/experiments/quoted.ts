import { quoted } from '../../src/experiments/report/quoted.ts'
import { nearDifferences } from './near.ts'

/** The quoted figures that reports show, against those of the file. */
export function quotedDifferences({ kind: _, ...expected }: { kind: string }): string[] {
  return nearDifferences(expected, quoted, 0)
}
