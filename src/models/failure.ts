/** Every way a call can fail, and its consequence. */
const families = {
  // Trying again may help.
  network: 'transport',
  timeout: 'transport',
  /** The body was not that of a chat endpoint: HTML, empty, cut off or too long. */
  bad_response: 'transport',
  rate_limited: 'transport',
  server_error: 'transport',
  /** Rejected, but the endpoint does not always reject this, or could not be shown to be alive. */
  erratic: 'transport',
  // No other call can succeed until somebody acts: key, money, permission.
  unauthorized: 'refusal',
  payment_required: 'refusal',
  forbidden: 'refusal',
  quota_exhausted: 'refusal',
  // The model is not, or no longer, at this address.
  not_found: 'gone',
  redirected: 'gone',
  /** It rejects even requests it answered before. */
  rejects_all: 'gone',
  // Only this request is affected.
  rejected: 'request',
  not_recorded: 'request',
  cancelled: 'request',
} as const

export type FailureKind = keyof typeof families

const maybeCharged = new Set<FailureKind>(['network', 'timeout', 'bad_response', 'cancelled'])

export function isRetryable(kind: FailureKind): boolean {
  return families[kind] === 'transport'
}

/** The endpoint is there, but wants another key, more money or a permission. */
export function isRefusal(kind: FailureKind): boolean {
  return families[kind] === 'refusal'
}

/** The run must stop; it can be resumed once somebody has fixed the cause. */
export function stopsRun(kind: FailureKind): boolean {
  return families[kind] === 'refusal' || families[kind] === 'gone'
}

/**
 * Whether the server may charge for the attempt although it reported no usage. HTTP errors and requests that never
 * left are not charged.
 */
export function mayHaveBeenCharged(failure: {
  readonly kind: FailureKind
  readonly unsent?: boolean
}): boolean {
  return failure.unsent !== true && maybeCharged.has(failure.kind)
}

/** The content of an OpenAI-compatible error body. */
export interface ServerError {
  readonly message?: string
  readonly code?: string
  readonly type?: string
}

/** A spent quota has the same status as a rate limit (429), but waiting does not help. */
const spentCodes =
  /^(?:insufficient_quota|quota_exceeded|exceeded_current_quota_error|credit_balance_exhausted|insufficient_balance|billing_\w+|\w+_(?:spend|usage)_limit_exceeded)$/i
const spentMessages = /current quota|insufficient balance/i

/**
 * The kind of failure for an HTTP status other than 2xx. `quotaIsRate`: the provider says quota but means tokens per
 * minute.
 */
export function failureOfStatus(status: number, error: ServerError, quotaIsRate = false): FailureKind {
  if (status === 401) return 'unauthorized'
  if (status === 402 || error.code === 'Arrearage') return 'payment_required'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410) return 'not_found'
  if (status === 408 || status === 425) return 'server_error'
  if (status === 429) return !quotaIsRate && isSpent(error) ? 'quota_exhausted' : 'rate_limited'
  if (status >= 300 && status < 400) return 'redirected'
  if (status >= 400 && status < 500) return 'rejected'
  return status >= 500 && status < 600 ? 'server_error' : 'bad_response'
}

/** How servers report that a request is too long or its content refused: by code, type or words. */
const requestFaultCodes =
  /^(?:context_length_exceeded|string_above_max_length|content_filter|content_policy_violation|data_?inspection_?failed|invalid_prompt)$/i
const requestFaultWords =
  /maximum context length|context (?:length|window)|prompt is too long|too many (?:input )?tokens|content (?:policy|filter|management policy)|inappropriate content/i

/** Whether the server blames this request itself, so that retrying cannot help. */
export function blamesRequest({ code, type, message }: ServerError): boolean {
  return (
    [code, type].some((name) => requestFaultCodes.test(name ?? '')) || requestFaultWords.test(message ?? '')
  )
}

function isSpent({ code, type, message }: ServerError): boolean {
  return [code, type].some((name) => spentCodes.test(name ?? '')) || spentMessages.test(message ?? '')
}
