import { Problem } from '../../problem.ts'

/** A data file that cannot be used. Names the file, row and field, and what is wrong there. */
export class DataError extends Problem {
  readonly problem: string
  readonly file: string
  readonly row: number | undefined
  readonly field: string | undefined

  /** Rows count from one, as an editor does; in a JSON Lines file the row is the line. */
  constructor(problem: string, at: { file: string; row?: number; field?: string; cause?: unknown }) {
    const row = at.row === undefined ? '' : `, row ${at.row}`
    const field = at.field === undefined || at.field === '' ? '' : `, field ${at.field}`
    super(`${at.file}${row}${field}: ${problem}`, { cause: at.cause })
    this.problem = problem
    this.file = at.file
    this.row = at.row
    this.field = at.field
  }
}
