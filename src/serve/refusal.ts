import { Problem } from '../problem.ts'

export type RefusedStatus = 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 429 | 500 | 502 | 503 | 504

export interface RefusalOptions extends ErrorOptions {
  /** A stable name for clients to check, such as `model_not_found`. */
  readonly code?: string
  /** The request field at fault. */
  readonly param?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Added to the body beside `error`, such as what the refused request has used. */
  readonly more?: object
}

/** Ends a request with an HTTP status and a message for the client. */
export class Refusal extends Problem {
  readonly status: RefusedStatus
  readonly code: string | null
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly more: object

  constructor(status: RefusedStatus, message: string, options: RefusalOptions = {}) {
    super(message, options)
    this.status = status
    this.code = options.code ?? null
    this.param = options.param ?? null
    this.headers = options.headers ?? {}
    this.more = options.more ?? {}
  }

  /** The error in OpenAI's format. */
  get body(): object {
    const { message, status, param, code } = this
    return { error: { message, type: errorType(status), param, code }, ...this.more }
  }

  get response(): Response {
    return Response.json(this.body, { status: this.status, headers: this.headers })
  }
}

/** For bugs: details only go to the log. */
export function internalError(): Refusal {
  return new Refusal(500, 'Internal error; see the log of the server.')
}

function errorType(status: RefusedStatus): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
