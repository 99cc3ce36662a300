import { Problem } from '../problem.ts'

export type RefusedStatus = 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 429 | 500 | 502 | 503 | 504

export interface RefusalOptions extends ErrorOptions {
  /** A stable name for programs, such as `model_not_found`. */
  readonly code?: string
  /** The field of the request that is wrong. */
  readonly param?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Put beside `error` in the body: what the request has used although it was refused. */
  readonly more?: object
}

/** A request that is not answered, with the HTTP status and a message for whoever sent it. */
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

  /** The error as OpenAI's API writes it. */
  get body(): object {
    const { message, status, param, code } = this
    return { error: { message, type: errorType(status), param, code }, ...this.more }
  }

  get response(): Response {
    return Response.json(this.body, { status: this.status, headers: this.headers })
  }
}

/** For a mistake of ours: what it was is for the log only. */
export function internalError(): Refusal {
  return new Refusal(500, 'Something went wrong in this server; its log tells what.')
}

function errorType(status: RefusedStatus): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
