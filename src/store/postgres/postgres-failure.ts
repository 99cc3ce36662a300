import { setTimeout as sleep } from 'node:timers/promises'
import { exitCode } from '../../problem.ts'
import { LedgerError } from '../ledger/ledger-error.ts'
import type { PostgresAddress } from './address.ts'

/** Transient errors: the server restarts, has no free connection, or broke a deadlock. */
const passing = /^(?:08...|57P0[1235]|57014|53300|40001|40P01|55P03|25006)$/

/** Network errors. */
const network =
  /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EAI_AGAIN|ENOTFOUND)$/

/** Errors raised by the client, which have no code. */
const lost =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered/

export function isPassing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== undefined) return passing.test(code) || network.test(code)
  // A host with several addresses, all of which failed.
  if (error instanceof AggregateError) return error.errors.every(isPassing)
  return lost.test(message)
}

/** The user is told about outages that last at least this long. */
const noticedMs = 2000

interface Patience {
  readonly address: PostgresAddress
  /** How long to keep trying. */
  readonly patienceMs: number
  /** Ends the retries early, with its reason. */
  readonly signal?: AbortSignal
  /** Called once when the server has been down for some seconds. */
  readonly onAway?: (reason: string) => void
}

/** Retries after transient errors, at growing intervals. The work may be done twice. */
export async function persistently<Result>(
  work: () => Promise<Result>,
  { address, patienceMs, signal, onAway }: Patience,
): Promise<Result> {
  const start = performance.now()
  let isNoticed = false
  for (let pause = 25; ; pause = Math.min(2 * pause, 2000)) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error)) throw explained(error, address)
      const awayMs = performance.now() - start
      if (awayMs >= patienceMs) throw unreachable(address, patienceMs, error)
      if (awayMs >= noticedMs && !isNoticed) onAway?.(reasonOf(error, address))
      isNoticed ||= awayMs >= noticedMs
    }
    // Random, so that clients do not all return at once to a server that has just started.
    await sleep(pause * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
    signal?.throwIfAborted()
  }
}

export function unreachable(address: PostgresAddress, patienceMs: number, error?: unknown): LedgerError {
  const reason = error === undefined ? '' : ` (${reasonOf(error, address)})`
  return new LedgerError(
    `The ledger at ${address.place} could not be reached for ${patienceMs / 1000} s${reason}. Everything it acknowledged is stored. Check that PostgreSQL is running and that MAGIC_LEDGER names it, then resume.`,
    { exitCode: exitCode.unavailable },
  )
}

/** TLS is not offered, a certificate is not trusted, or its file cannot be read. */
function isOfEncryption(error: unknown): boolean {
  const { code = '', message, syscall } = error as NodeJS.ErrnoException
  return (
    /^(?:DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|CERT_\w+|HOSTNAME_MISMATCH|EPROTO|ERR_(?:TLS|SSL|OSSL)_\w+)$/.test(
      code,
    ) ||
    /does not support SSL|establishing an SSL connection/.test(message) ||
    syscall === 'open'
  )
}

/** Explains errors that the user can fix, with the next step. Others are bugs and stay as they are. */
function explained(error: unknown, address: PostgresAddress): unknown {
  const { code } = error as { code?: string }
  const { place } = address
  const reason = reasonOf(error, address)
  if (isOfEncryption(error))
    return new LedgerError(
      `The connection to the PostgreSQL at ${place} cannot be encrypted as MAGIC_LEDGER asks (${reason}). Check its \`sslmode\` and \`sslrootcert\`, and the server's certificate.`,
    )
  switch (code) {
    case '28P01': // invalid_password
    case '28000': // invalid_authorization_specification
      return new LedgerError(
        `The PostgreSQL at ${place} rejects the user or password (${reason}). Check MAGIC_LEDGER.`,
      )
    case '3D000': // invalid_catalog_name
      return new LedgerError(
        `The PostgreSQL at ${place} has no such database (${reason}). Create it with \`createdb\`, or name another in MAGIC_LEDGER.`,
      )
    case '42501': // insufficient_privilege
      return new LedgerError(
        `The PostgreSQL at ${place} denies permission (${reason}). Grant the user CREATE on the database, or let its owner run \`magic ledger list\` once, which creates the tables.`,
      )
    case '53100': // disk_full
      return new LedgerError(
        `The disk of the ledger at ${place} is full (${reason}). Its content is intact: free some disk space and resume.`,
        { exitCode: exitCode.disk },
      )
    default:
      return error
  }
}

function reasonOf(error: unknown, address: PostgresAddress): string {
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: unknown[] }
  if (errors?.[0] !== undefined) return reasonOf(errors[0], address)
  return address.redact(message || code || 'no reason given')
}
