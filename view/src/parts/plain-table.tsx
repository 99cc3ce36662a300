import type { ReactNode } from 'react'

/** `look` is the cell's class, such as `number`. */
type PlainColumn<Row> = readonly [header: string, cell: (row: Row) => ReactNode, look?: string]

interface Shown<Row> {
  readonly rows: readonly Row[]
  /** The first column names the row. */
  readonly columns: readonly PlainColumn<Row>[]
  readonly idOf: (row: Row) => string
}

/** A short table that needs no sorting. */
export function PlainTable<Row>({ rows, columns, idOf }: Shown<Row>): ReactNode {
  return (
    <div className="scroll">
      <table className="plain">
        <thead>
          <tr>
            {columns.map(([header, , look]) => (
              <th key={header} className={look?.startsWith('number') ? 'number' : undefined}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {columns.map(([header, cell, look], position) =>
                position === 0 ? (
                  <th key={header} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={header} className={look}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
