import { exitCode, Problem } from '../problem.ts'

/** One NaN would spread to every return, advantage and weight, so it is rejected where it appears. */
export function requireFinite(value: number, what: string): number {
  if (!Number.isFinite(value)) throw new NonFiniteError(what, value)
  return value
}

export class NonFiniteError extends Problem {
  constructor(what: string, value: number) {
    super(
      `The ${what} is ${value}, not a finite number: no weight was changed. Check what the scorer returns and the reward settings.`,
      { exitCode: exitCode.failed },
    )
  }
}
