import { Problem } from '../../problem.ts'

/** A ledger that cannot be used as it is; the message says what a person can do about it. */
export class LedgerError extends Problem {}
