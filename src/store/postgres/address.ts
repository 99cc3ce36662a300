import { inspect } from 'node:util'
import { Problem } from '../../problem.ts'

/**
 * The address of a PostgreSQL: `postgres://user:password@host:port/database`. However it is printed, user and password are
 * left out; `redact` removes them from other texts.
 */
export class PostgresAddress {
  /** `host:port/database`, for messages. */
  readonly place: string
  readonly #address: string
  readonly #secrets: readonly string[]

  /** `from` names the source of the address, for error messages. */
  constructor(address: string, from = 'The address of the ledger') {
    const url = URL.parse(address)
    if (url === null || !isPostgresAddress(address) || url.hostname === '')
      throw new Problem(
        `${from} is not a PostgreSQL address. It should look like postgres://user:password@host:5432/database; write / and @ in the password as %2F and %40.`,
      )
    this.place = `${url.host}${url.pathname}`
    this.#address = address
    // libpq, and so the driver, also takes them as parameters.
    const named = url.searchParams.get('password') ?? ''
    const passwords = [url.password, decoded(url.password), named, encodeURIComponent(named)]
    this.#secrets = [address, ...passwords].filter((secret) => secret !== '')
  }

  /** The full address with its password, only for connecting. */
  reveal(): string {
    return this.#address
  }

  redact(text: string): string {
    return this.#secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text)
  }

  toString(): string {
    return this.place
  }

  toJSON(): string {
    return this.place
  }

  [inspect.custom](): string {
    return this.place
  }
}

export function isPostgresAddress(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text)
}

/** `MAGIC_LEDGER`, if it is set. */
export function givenAddress(environment: NodeJS.ProcessEnv = process.env): PostgresAddress | undefined {
  const given = environment['MAGIC_LEDGER']
  return given ? new PostgresAddress(given, 'MAGIC_LEDGER') : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
