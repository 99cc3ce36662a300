import type { Limits } from './limits.ts'

/** What a case does with a program. No field can hold an expected value: `judge` runs in a sandbox of its own. */
export type CaseWork =
  | { readonly mode: 'script'; readonly source: string; readonly stdin: string }
  | { readonly mode: 'compile'; readonly source: string }
  | {
      readonly mode: 'function'
      readonly source: string
      /** Pieces of code that run before the program, in its namespace. */
      readonly preamble: readonly string[]
      /** The definition in the preamble that only holds the place of the program's. */
      readonly placeholder?: string
      readonly entry: string
      /** Whether the entry point may be a method of a class `Solution`. */
      readonly method: boolean
      /** One JSON text per argument: one call, then the end. Without it, tests call the function. */
      readonly arguments?: readonly string[]
    }
  | {
      readonly mode: 'judge'
      readonly preamble: readonly string[]
      readonly entry: string
      readonly test: string
      /** How long the program may take for all its answers. */
      readonly answerSeconds: number
    }

/** How a case ended, as facts. What they mean for a score is decided elsewhere. */
export interface CaseReport {
  readonly end: /** by itself */
    | 'exit'
    | 'signal'
    /** stopped by the runner, for the limit named */
    | 'cpu'
    | 'wall'
    | 'output'
    /** stopped, because the program wrote to a descriptor that is not its own */
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

/** Tests call the program that they judge, in another sandbox; every other program is on its own. */
export function roleOf(work: CaseWork): 'judge' | 'judged' | 'alone' {
  if (work.mode === 'judge') return 'judge'
  return work.mode === 'function' && work.arguments === undefined ? 'judged' : 'alone'
}

/** A line for the runner; the rest for the process of the program, which alone reads it. */
export function caseCommand(work: CaseWork, limits: Limits, stretch: number): string {
  const { stdin = '', ...rest } = { stdin: undefined, ...work }
  const answerSeconds = work.mode === 'judge' ? stretch * work.answerSeconds : undefined
  // Tests say that they are ready, and what they came to; a program has one thing to say.
  const messages = work.mode === 'judge' ? 2 : 1
  const forRunner = { stdin, limits, role: roleOf(work), messages }
  return `${JSON.stringify(forRunner)}\n${JSON.stringify({ ...rest, answerSeconds, limits })}`
}

const deepestMessage = 300

/** Undefined for what is not JSON, or is nested too deep to parse safely: the program may have written it. */
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

/** Stands for a report that did not come. */
export function noReport(end: 'lost' | 'late'): CaseReport {
  return { end, code: 0, cpuSeconds: 0, wallSeconds: 0, peakBytes: 0, stdout: '', stderr: '' }
}
