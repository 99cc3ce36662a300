import { Problem } from '../../problem.ts'

/** A data file cannot be used. Names the file, row and field, and what is wrong. */
export class DataError extends Problem {
  readonly file: string
  readonly row: number | undefined
  readonly field: string | undefined

  /** Rows count from one; in a JSON Lines file the row is the line. */
  constructor(
    problem: string,
    { file, row, cause }: { readonly file: string; readonly row?: number; readonly cause?: unknown },
    field?: string,
  ) {
    const atRow = row === undefined ? '' : `, row ${row}`
    const atField = field === undefined || field === '' ? '' : `, field ${field}`
    super(`${file}${atRow}${atField}: ${problem}`, { cause })
    this.file = file
    this.row = row
    this.field = field
  }
}
