import { setTimeout as sleep } from 'node:timers/promises'
import { exitCode } from '../../problem.ts'
import { LedgerError } from '../ledger/ledger-error.ts'
import type { PostgresAddress } from './address.ts'

/** Errors that pass by themselves: the server restarts, has no free connection, or broke a deadlock. */
const passing = /^(?:08...|57P0[1235]|57014|53300|40001|40P01|55P03|25006)$/

/** Errors of the network. */
const network =
  /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EAI_AGAIN|ENOTFOUND)$/

/** Errors of the client, which have no code. */
const lost =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered/

export function isPassing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== undefined) return passing.test(code) || network.test(code)
  // One name with several addresses, all of which failed.
  if (error instanceof AggregateError) return error.errors.every(isPassing)
  return lost.test(message)
}

/** Tries again after errors that pass by themselves, at growing intervals, until patience ends. The work may be done twice. */
export async function persistently<Result>(
  work: () => Promise<Result>,
  address: PostgresAddress,
  patienceMs: number,
): Promise<Result> {
  const start = performance.now()
  for (let pause = 25; ; pause = Math.min(2 * pause, 2000)) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error)) throw explained(error, address)
      if (performance.now() - start >= patienceMs) throw unreachable(address, patienceMs, error)
    }
    // At random intervals, so that not everybody crowds a server that has just started.
    await sleep(pause * (0.5 + Math.random()))
  }
}

export function unreachable(address: PostgresAddress, patienceMs: number, error?: unknown): LedgerError {
  const reason = error === undefined ? '' : ` (${reasonOf(error, address)})`
  return new LedgerError(
    `The ledger at ${address.place} could not be reached for ${patienceMs / 1000} s${reason}. Everything it has acknowledged is kept. Check that PostgreSQL is running and that MAGIC_LEDGER names it, then resume.`,
    { exitCode: exitCode.unavailable },
  )
}

/** A refusal by PostgreSQL that a person can fix, with the next step. Other errors are bugs of ours and stay as they are. */
function explained(error: unknown, address: PostgresAddress): unknown {
  const { code } = error as { code?: string }
  const { place } = address
  const reason = reasonOf(error, address)
  switch (code) {
    case '28P01': // invalid_password
    case '28000': // invalid_authorization_specification
      return new LedgerError(
        `The PostgreSQL at ${place} refuses user or password (${reason}). Check MAGIC_LEDGER.`,
      )
    case '3D000': // invalid_catalog_name
      return new LedgerError(
        `The PostgreSQL at ${place} has no such database (${reason}). Make it (\`createdb\`), or name another in MAGIC_LEDGER.`,
      )
    case '42501': // insufficient_privilege
      return new LedgerError(
        `The PostgreSQL at ${place} does not allow it (${reason}). The user needs CREATE on the database, or its owner runs \`magic ledger list\` once, which makes the tables.`,
      )
    case '53100': // disk_full
      return new LedgerError(
        `There is no room for more in the ledger at ${place} (${reason}). What it holds is intact: make room on its disk and resume.`,
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
