// The content of `table.json`, from which all reports and figures are made.

/** One figure of a table: its unrounded value, its text, and the runs behind it. */
export interface Cell {
  readonly value: number | string | boolean | null
  readonly text: string
  readonly mark?: 'best' | 'second'
  /** Folders of runs and evaluations, relative to the experiment's. */
  readonly runs?: readonly string[]
}

export interface ReportTable {
  readonly id: string
  readonly title: string
  /** `quoted` tables contain the paper's figures; measured and quoted are never mixed. */
  readonly source: 'measured' | 'quoted' | 'computed'
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  readonly notes?: readonly string[]
}

export interface Series {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number; readonly label?: string }[]
  /** Whether points are joined. */
  readonly line: boolean
}

export interface Figure {
  readonly id: string
  readonly title: string
  readonly x: string
  readonly y: string
  readonly series: readonly Series[]
  /** Instead of series: groups of bars, from 0 to 100. */
  readonly bars?: readonly {
    readonly group: string
    /** Null is N/A, not a bar of height 0. */
    readonly bars: readonly { readonly name: string; readonly value: number | null }[]
  }[]
  readonly caption?: string
}

export interface ExperimentResult {
  readonly format: 'magic-experiment-1'
  readonly experiment: string
  readonly title: string
  readonly simulated: boolean
  /** Deviations from the paper, shown with every table. */
  readonly deviations: readonly string[]
  /** Our decisions where the paper leaves things open. */
  readonly decisions: readonly string[]
  readonly tables: readonly ReportTable[]
  readonly figures: readonly Figure[]
  /** Versions, digests, seeds, memberships, prices: name and value. */
  readonly facts: readonly (readonly [name: string, value: string])[]
}

export function textCell(value: string): Cell {
  return { value, text: value }
}

/** A number as a table cell; N/A for null. */
export function figure(
  value: number | null,
  show: (value: number) => string,
  more: Pick<Cell, 'runs' | 'mark'> = {},
): Cell {
  return { value, text: value === null ? 'N/A' : show(value), ...more }
}
