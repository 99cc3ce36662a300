import type { CaseReport } from '../case.ts'

/** How the evaluation of a program ended; only `passed` gets credit. A failed sandbox is an error, not a status. */
export type CodeStatus =
  | 'passed'
  | 'failed_tests'
  | 'syntax_error'
  | 'runtime_error'
  | 'timeout'
  | 'memory_limit'
  | 'output_limit'
  | 'unparseable'

/** The status of a case that did not end properly, or undefined if it did. */
export function statusOfEnd(report: CaseReport): CodeStatus | undefined {
  switch (report.end) {
    case 'cpu':
    case 'wall':
    case 'late':
      return 'timeout'
    case 'output':
      return 'output_limit'
    case 'malformed':
    case 'lost':
    case 'signal':
      return 'runtime_error'
    case 'exit':
    case 'stopped':
      return undefined
  }
}
