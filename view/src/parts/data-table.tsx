import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useMemo, useRef } from 'react'
import { setQuery, usePlace } from '../location.ts'

export interface Column<Row> {
  readonly id: string
  readonly header: string
  /** A track of the grid, such as `2fr` or `120px`. */
  readonly width: string
  /** The value to sort by; columns without it cannot be sorted. */
  readonly value?: (row: Row) => string | number | null | undefined
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
}

/** A column of numbers; null and undefined are shown as a dash. */
export function numberColumn<Row>(
  id: string,
  header: string,
  width: string,
  value: (row: Row) => number | null | undefined,
  format: (value: number) => string,
): Column<Row> {
  const cell = (row: Row) => {
    const read = value(row)
    return read === null || read === undefined ? '–' : format(read)
  }
  return { id, header, width, value, cell, isNumber: true }
}

interface Shown<Row> {
  /** The table's name for screen readers. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  readonly isSelected?: (row: Row) => boolean
  /** The query field that holds the order: a column's id, with a minus for descending. */
  readonly sortField?: string
}

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() })
const rowHeight = 41
/** Shorter tables are rendered completely, so that the browser's search finds everything. */
const longTable = 80

/** A sortable table. A long one renders only the visible rows. */
export function DataTable<Row extends object>(shown: Shown<Row>): ReactNode {
  const { label, rows, columns, idOf, isSelected, sortField = 'sort' } = shown
  const { query } = usePlace()
  const sort = query.get(sortField) ?? ''
  const sorting = useMemo(
    () => (sort === '' ? [] : [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }]),
    [sort],
  )
  const definitions = useMemo(
    () =>
      columns.map(
        ({ id, value }): ColumnDef<typeof features, Row> => ({
          id,
          accessorFn: (row) => value?.(row) ?? undefined,
          sortUndefined: 'last',
          enableSorting: value !== undefined,
        }),
      ),
    [columns],
  )
  const table = useTable({
    features,
    columns: definitions,
    data: rows as Row[],
    getRowId: (row) => idOf(row),
    state: { sorting: sorting.filter(({ id }) => columns.some((column) => column.id === id)) },
  })
  const sorted = table.getRowModel().rows
  const scrolled = useRef<HTMLDivElement>(null)
  const isLong = sorted.length > longTable
  const virtual = useVirtualizer({
    count: isLong ? sorted.length : 0,
    getScrollElement: () => scrolled.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  // The sum of the columns' minimal widths; longer texts are cut.
  const minWidth = columns.reduce((sum, { width }) => sum + Number(/\d+/.exec(width)?.[0] ?? 0), 0)
  const tracks = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') }
  const line = (position: number, top?: number) => {
    const row = sorted[position]!.original
    const place =
      top === undefined
        ? undefined
        : ({ position: 'absolute', insetInline: 0, top, height: rowHeight } as const)
    return (
      <div
        role="row"
        className="tr"
        key={idOf(row)}
        style={{ ...tracks, ...place }}
        aria-rowindex={position + 2}
        data-selected={isSelected?.(row)}
      >
        {columns.map(({ id, cell, isNumber }) => (
          <div role="cell" className={isNumber ? 'td number' : 'td'} key={id}>
            {cell(row)}
          </div>
        ))}
      </div>
    )
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className="table" ref={scrolled} tabIndex={0} aria-label={label}>
      <div
        role="table"
        className="lines"
        style={{ minWidth }}
        aria-label={label}
        aria-rowcount={sorted.length + 1}
      >
        <div role="rowgroup" className="head-row">
          <div role="row" className="tr" style={tracks} aria-rowindex={1}>
            {columns.map((column) => (
              <Header key={column.id} column={column} sort={sort} sortField={sortField} />
            ))}
          </div>
        </div>
        <div
          role="rowgroup"
          className="body"
          style={isLong ? { position: 'relative', height: virtual.getTotalSize() } : undefined}
        >
          {isLong
            ? virtual.getVirtualItems().map(({ index, start }) => line(index, start))
            : sorted.map((_, index) => line(index))}
        </div>
      </div>
    </section>
  )
}

function Header<Row>({
  column: { id, header, value, isNumber },
  sort,
  sortField,
}: {
  readonly column: Column<Row>
  readonly sort: string
  readonly sortField: string
}): ReactNode {
  const order = sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : 'none'
  // The first click sorts numbers descending and names ascending.
  const orders = isNumber ? [`-${id}`, id, ''] : [id, `-${id}`, '']
  const next = orders[(orders.indexOf(sort) + 1) % orders.length]!
  return (
    <div
      role="columnheader"
      className={isNumber ? 'th number' : 'th'}
      aria-sort={value === undefined ? undefined : order}
    >
      {value === undefined ? (
        header
      ) : (
        <button type="button" onClick={() => setQuery({ [sortField]: next })}>
          {header}
          {order === 'ascending' ? ' ↑' : order === 'descending' ? ' ↓' : ''}
        </button>
      )}
    </div>
  )
}
