import { exitCode, Problem } from '../problem.ts'
import type { ChatFailure } from './chat-model.ts'
import { type FailureKind, isRefusal } from './failure.ts'
import { ModelUnreachableError } from './model-unreachable.ts'

/** The error for a failure that stops a run. */
export function stopError(
  { kind, message }: ChatFailure,
  hasBegun = true,
): ModelRefusedError | ModelUnreachableError {
  return isRefusal(kind)
    ? new ModelRefusedError(kind, message)
    : new ModelUnreachableError(`The model is gone (${kind}): ${message}`, hasBegun)
}

/** The model refuses every call until a person has acted, so the run ends at once. */
export class ModelRefusedError extends Problem {
  readonly kind: FailureKind

  /** `message` is the failed call's. */
  constructor(kind: FailureKind, message: string) {
    super(
      `The model refuses further calls (${kind}): ${endedSentence(message)} ${remedyOf(kind)}, then try again; nothing that was done is lost.`,
      { exitCode: exitCode.refused },
    )
    this.kind = kind
  }
}

function remedyOf(kind: FailureKind): string {
  switch (kind) {
    case 'unauthorized':
      return 'Check the API key'
    case 'payment_required':
    case 'quota_exhausted':
      return 'Top up the balance or raise the quota'
    case 'forbidden':
      return 'Get access to this model or choose another'
    default:
      return 'Look closer with `magic doctor`'
  }
}

function endedSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
