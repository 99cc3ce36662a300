import { exitCode, Problem } from '../problem.ts'
import type { ChatFailure } from './chat-model.ts'
import { type FailureKind, isRefusal } from './failure.ts'

/** The error for a failure that stops a run. */
export function stopError(
  { kind, message }: ChatFailure,
  hasBegun = true,
): ModelRefusedError | ModelUnreachableError {
  return isRefusal(kind)
    ? new ModelRefusedError(kind, message)
    : new ModelUnreachableError(`The model is gone (${kind}): ${message}`, hasBegun)
}

const payment = 'Top up the balance or raise the quota'

const remedies: Partial<Record<FailureKind, string>> = {
  unauthorized: 'Check the API key',
  payment_required: payment,
  quota_exhausted: payment,
  forbidden: 'Get access to this model or choose another',
}

/** The model refuses every call until somebody acts, so the run ends. */
export class ModelRefusedError extends Problem {
  readonly kind: FailureKind

  /** `message`: that of the failed call. */
  constructor(kind: FailureKind, message: string) {
    super(
      `The model refuses further calls (${kind}): ${sentence(message)} ${remedies[kind] ?? 'Look closer with `magic doctor`'}, then try again; nothing is lost.`,
      { exitCode: exitCode.refused },
    )
    this.kind = kind
  }
}

/** The endpoint is gone or unreachable. Nothing is lost: the run can be resumed once it answers again. */
export class ModelUnreachableError extends Problem {
  /** `hasBegun`: whether there is something to resume. */
  constructor(problem: string, hasBegun = true) {
    const again = hasBegun
      ? 'resume, or repeat the command: replies received so far are kept'
      : 'repeat the command: nothing was started'
    super(`${sentence(problem)} Check the endpoint (\`magic doctor\`) and ${again}.`, {
      exitCode: exitCode.unavailable,
    })
  }
}

function sentence(text: string): string {
  return text.replace(/[.!?]?$/, '.')
}
