import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import type { Evaluation } from '../../store/ledger/evaluation.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import type { EngineOptions } from '../../training/train-options.ts'

/** The result of one check. */
export interface Verification {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** `set` is the current task set. Answers that are programs are run again. */
export interface VerifyOptions extends Pick<EngineOptions, 'set' | 'sandbox' | 'tools'> {
  readonly folder: RunFolder
  /** Called with the number of ledger answers scored again. */
  readonly onProgress?: (done: number) => void
}

/** Runs a check: it returns what is fine and throws what is wrong. */
export async function attempt(name: string, look: () => string | Promise<string>): Promise<Verification> {
  try {
    return { name, ok: true, detail: await look() }
  } catch (error) {
    return failed(name, error)
  }
}

export function failed(name: string, error: unknown): Verification {
  return { name, ok: false, detail: (error as Error).message }
}

/** Scores a stored answer again. */
export async function scoreAgain(
  { answer, judge, parse, failures }: Pick<Evaluation, 'answer' | 'judge' | 'parse' | 'failures'>,
  reference: unknown,
  { set, sandbox }: VerifyOptions,
): Promise<number> {
  if (answer === undefined) return 0
  // No model calls here: the judge's recorded verdict stands.
  if (set.scorer.judge !== undefined) return parse === 'invalid' ? 0 : (judge?.score ?? Number.NaN)
  const pool = sandbox instanceof SandboxUnavailable ? undefined : sandbox?.pool
  return (await set.scorer.score(answer, reference, { pool, failures: failures.length })).score
}
