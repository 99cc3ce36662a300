// What `table.json` holds, and all that reports and figures are made from.

/** One figure of a table, unrounded, with how it is shown and what it rests on. */
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
  /** `quoted` tables hold the paper's own figures; measured and quoted never stand in one. */
  readonly source: 'measured' | 'quoted' | 'computed'
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  readonly notes?: readonly string[]
}

export interface Series {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number; readonly label?: string }[]
  /** Points are joined. */
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
    /** Null is N/A, which is no bar of height 0. */
    readonly bars: readonly { readonly name: string; readonly value: number | null }[]
  }[]
  readonly caption?: string
}

export interface ExperimentResult {
  readonly format: 'magic-experiment-1'
  readonly experiment: string
  readonly title: string
  readonly simulated: boolean
  /** Where it is not the paper; every table shows them. */
  readonly deviations: readonly string[]
  /** What the paper leaves open and we decided. */
  readonly decisions: readonly string[]
  readonly tables: readonly ReportTable[]
  readonly figures: readonly Figure[]
  /** Versions, digests, seeds, memberships, prices: name and value. */
  readonly facts: readonly (readonly [name: string, value: string])[]
}

export function textCell(value: string): Cell {
  return { value, text: value }
}

/** A number as its table shows it; N/A where there is none. */
export function figure(
  value: number | null,
  show: (value: number) => string,
  more: Pick<Cell, 'runs' | 'mark'> = {},
): Cell {
  return { value, text: value === null ? 'N/A' : show(value), ...more }
}
