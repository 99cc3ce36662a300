import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Trace } from '../../execution/trace/trace.ts'
import { type Evaluation, type EvaluationKey, evaluationDigest } from './evaluation.ts'
import { decodeTrace, encodeTrace } from './trace-codec.ts'

// A ledger's content as rows that are the same in every store. Stores check pages at best, not their content, so
// every row has a checksum that includes its key: a flipped bit gives an error or a row that is not found, never
// another score.

export interface ScoredRow
  extends EvaluationKey,
    Readonly<Pick<Evaluation, 'score' | 'status' | 'execution'>> {
  /** JSON: answer, failures, usage, cost. */
  readonly detail: string
  readonly crc: number
}

/** Everything except the key, which the caller already knows. */
export type ScoredContent = Omit<ScoredRow, keyof EvaluationKey>

/** A reply or a tool observation. */
export interface TextRow {
  readonly digest: string
  readonly json: string
  readonly crc: number
}

export interface TraceRow {
  readonly execution: string
  /** JSON, compressed with zstd if that is shorter. */
  readonly trace: Uint8Array
  readonly crc: number
}

/** The rows of each table. */
export interface LedgerTables {
  executions: TraceRow
  evaluations: ScoredRow
  replies: TextRow
  observations: TextRow
}

export type TableName = keyof LedgerTables

/** The tables whose rows are found by a text: an execution's id, or a digest. */
export type KeyedTable = Exclude<TableName, 'evaluations'>

/** Traces come first, because evaluations refer to them. */
export const tableNames: readonly TableName[] = ['executions', 'evaluations', 'replies', 'observations']

export function evaluationRow(key: EvaluationKey, evaluation: Evaluation): ScoredRow {
  const { score, status, execution, ...rest } = evaluation
  const { graph, task, dataVersion, executor } = key
  const row = { graph, task, dataVersion, executor, score, status, execution, detail: JSON.stringify(rest) }
  return { ...row, crc: checksumOf(row) }
}

/** Undefined if the row is damaged. */
export function readEvaluation(row: ScoredRow): Evaluation | undefined {
  if (checksumOf(row) !== row.crc) return undefined
  const { score, status, execution, detail } = row
  return { score, status, execution, ...JSON.parse(detail) }
}

export function textRow(digest: string, value: unknown): TextRow {
  const json = JSON.stringify(value)
  return { digest, json, crc: checksum(digest, json) }
}

/** Undefined if the row is damaged. */
export function readTextRow<Value>({ digest, json, crc }: TextRow): Value | undefined {
  return checksum(digest, json) === crc ? (JSON.parse(json) as Value) : undefined
}

export function traceRow(trace: Trace): TraceRow {
  const { execution } = trace
  const encoded = encodeTrace(trace)
  return { execution, trace: encoded, crc: crc32(encoded, crc32(execution)) }
}

/** Undefined if the row is damaged. */
export function readTrace({ execution, trace, crc }: TraceRow): Trace | undefined {
  return isWholeTrace({ execution, trace, crc }) ? decodeTrace(trace) : undefined
}

/** Whether a row is intact, without decoding it. */
export function isWhole(row: LedgerTables[TableName]): boolean {
  if ('trace' in row) return isWholeTrace(row)
  return ('json' in row ? checksum(row.digest, row.json) : checksumOf(row)) === row.crc
}

/** Equal for equal rows in every store. */
export function rowDigest(row: LedgerTables[TableName]): Buffer {
  if ('trace' in row) return hash('sha256', Buffer.concat([Buffer.from(row.execution), row.trace]), 'buffer')
  if ('json' in row) return hash('sha256', JSON.stringify([row.digest, row.json]), 'buffer')
  return hash('sha256', JSON.stringify(contentOf(row)), 'buffer')
}

/** About how many bytes a row takes. */
export function rowBytes(row: LedgerTables[TableName]): number {
  if ('trace' in row) return row.trace.length
  return 'json' in row ? row.json.length : row.detail.length
}

export function digestBytes(key: EvaluationKey): Buffer {
  return Buffer.from(evaluationDigest(key), 'hex')
}

function isWholeTrace({ execution, trace, crc }: TraceRow): boolean {
  // A flipped bit may have changed its type.
  return trace instanceof Uint8Array && crc32(trace, crc32(execution)) === crc
}

function checksumOf(row: Omit<ScoredRow, 'crc'>): number {
  return checksum(...contentOf(row))
}

function contentOf(row: Omit<ScoredRow, 'crc'>): (string | number)[] {
  const { graph, task, dataVersion, executor, score, status, execution, detail } = row
  return [graph, task, dataVersion, executor, score, status, execution, detail]
}

function checksum(...parts: readonly (string | number)[]): number {
  return crc32(JSON.stringify(parts))
}
