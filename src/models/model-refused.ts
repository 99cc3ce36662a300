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
      `The model refuses further calls (${kind}): ${message.replace(/[.!?]?$/, '.')} ${remedies[kind] ?? 'Look closer with `magic doctor`'}, then try again; nothing that was done is lost.`,
      { exitCode: exitCode.refused },
    )
    this.kind = kind
  }
}

const payment = 'Top up the balance or raise the quota'

const remedies: Partial<Record<FailureKind, string>> = {
  unauthorized: 'Check the API key',
  payment_required: payment,
  quota_exhausted: payment,
  forbidden: 'Get access to this model or choose another',
}
