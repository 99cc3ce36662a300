import type { Limits } from './limits.ts'

/** What a case does with a program. No field can contain an expected value: `judge` runs in a sandbox of its own. */
export type CaseWork =
  | { readonly mode: 'script'; readonly source: string; readonly stdin: string }
  | { readonly mode: 'compile'; readonly source: string }
  | {
      readonly mode: 'function'
      readonly source: string
      /** Pieces of code that run before the program, in its namespace. */
      readonly preamble: readonly string[]
      /** The placeholder definition in the preamble that the program replaces. */
      readonly placeholder?: string
      readonly entry: string
      /** Whether the entry point may be a method of a class `Solution`. */
      readonly method: boolean
      /** One JSON text per argument, for a single call. Without it, tests call the function. */
      readonly arguments?: readonly string[]
    }
  | {
      readonly mode: 'judge'
      readonly preamble: readonly string[]
      readonly entry: string
      readonly test: string
      /** Time limit for all the program's answers together. */
      readonly answerSeconds: number
    }

/** How a case ended. What this means for a score is decided elsewhere. */
export interface CaseReport {
  readonly end: /** by itself */
    | 'exit'
    | 'signal'
    /** stopped by the runner, for the limit named */
    | 'cpu'
    | 'wall'
    | 'output'
    /** stopped, because the program wrote to a foreign descriptor */
    | 'malformed'
    /** stopped on our request */
    | 'stopped'
    /** no report: the sandbox ended, or did not answer in time */
    | 'lost'
    | 'late'
  /** Exit status, or the number of the signal. */
  readonly code: number
  readonly cpuSeconds: number
  readonly wallSeconds: number
  readonly peakBytes: number
  readonly stdout: string
  readonly stderr: string
}

/** Tests call the program they judge, in another sandbox; every other program runs alone. */
export function roleOf(work: CaseWork): 'judge' | 'judged' | 'alone' {
  if (work.mode === 'judge') return 'judge'
  return work.mode === 'function' && work.arguments === undefined ? 'judged' : 'alone'
}

/** One line for the runner; the rest is only read by the program's process. */
export function caseCommand(work: CaseWork, limits: Limits, stretch: number): string {
  const { stdin = '', ...rest } = { stdin: undefined, ...work }
  const answerSeconds = work.mode === 'judge' ? stretch * work.answerSeconds : undefined
  // Tests send two messages, when ready and with their verdict; a program sends one.
  const messages = work.mode === 'judge' ? 2 : 1
  const forRunner = { stdin, limits, role: roleOf(work), messages }
  return `${JSON.stringify(forRunner)}\n${JSON.stringify({ ...rest, answerSeconds, limits })}`
}

const deepestMessage = 300

/** Undefined if it is not JSON or nested too deeply to parse safely: the program may have written it. */
export function parseMessage(payload: Buffer): unknown {
  let depth = 0
  let inString = false
  for (let at = 0; at < payload.length; at += 1) {
    const byte = payload[at]
    if (inString) {
      if (byte === 0x5c) at += 1
      else if (byte === 0x22) inString = false
    } else if (byte === 0x22) inString = true
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      if (depth > deepestMessage) return undefined
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  try {
    return JSON.parse(payload.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Stands in for a report that never came. */
export function noReport(end: 'lost' | 'late'): CaseReport {
  return { end, code: 0, cpuSeconds: 0, wallSeconds: 0, peakBytes: 0, stdout: '', stderr: '' }
}
