/** All attempts of all rounds failed on the way. Nothing is lost: the run can be resumed when the endpoint answers again. */
export class ModelUnreachableError extends Error {
  override name = 'ModelUnreachableError'
  constructor(task: string, reason: string | undefined) {
    const why = reason === undefined ? '' : ` The last failure: ${reason.replace(/[.!?]?$/, '.')}`
    super(
      `The model could not be reached for an answer about task '${task}', after all retries.${why} Check the endpoint (\`magic doctor\`) and resume, or repeat the command: what was answered is kept.`,
    )
  }
}
