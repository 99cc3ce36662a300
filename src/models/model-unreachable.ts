import { exitCode, Problem } from '../problem.ts'

/** The endpoint is gone or cannot be reached. Nothing is lost: the run can be resumed when it answers again. */
export class ModelUnreachableError extends Problem {
  /** `hasBegun`: there is something to resume. */
  constructor(problem: string, hasBegun = true) {
    const again = hasBegun
      ? 'resume, or repeat the command: what was answered is kept'
      : 'repeat the command: nothing was begun'
    super(`${problem.replace(/[.!?]?$/, '.')} Check the endpoint (\`magic doctor\`) and ${again}.`, {
      exitCode: exitCode.unavailable,
    })
  }

  /** All attempts of all rounds failed in transport. */
  static afterRetries(task: string, reason: string | undefined): ModelUnreachableError {
    const problem = `The model could not be reached for an answer about task '${task}', after all retries.`
    return new ModelUnreachableError(
      reason === undefined ? problem : `${problem} The last failure: ${reason}`,
    )
  }
}
