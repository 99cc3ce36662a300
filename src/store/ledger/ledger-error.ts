import { Problem } from '../../problem.ts'

/** A ledger that cannot be used as is; the message says what to do. */
export class LedgerError extends Problem {}
