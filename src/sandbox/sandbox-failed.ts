import type { SandboxFailure } from './unavailable.ts'

/** The sandbox failed in all attempts. Nothing is lost, and nothing is stored of what it could not run. */
export class SandboxFailedError extends Error {
  override name = 'SandboxFailedError'
  constructor(task: string, failure: SandboxFailure) {
    super(
      `A program for task '${task}' could not be run: the sandbox failed, in fresh ones too. ${failure.reason.replace(/[.!?]?$/, '.')} That is no result, so none was stored. Look at the machine (\`magic doctor\`) and resume, or repeat the command: what was done is kept.`,
      { cause: failure },
    )
  }
}
