import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import type { QuestionList } from '../../../src/view/questions.ts'
import { api } from '../api.ts'
import { href, useQueryField } from '../location.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Loading, Problem, scoreOf } from '../parts/shown.tsx'

type Row = QuestionList['rows'][number]

/** Every question that was evaluated or trained on, with each organisation's score. */
export function RunQuestions({ name }: { readonly name: string }): ReactNode {
  const { data, error } = useQuery(api.questions(name))
  const [wanted, setWanted] = useQueryField('q')
  const [kind, setKind] = useQueryField('kind')
  const kinds = useMemo(
    () => [...new Set((data?.rows ?? []).flatMap((row) => row.kind ?? []))].sort(),
    [data],
  )
  const columns = useMemo(
    () => columnsFor(name, data?.organisations ?? [], kinds.length > 0),
    [name, data?.organisations, kinds],
  )
  const rows = useMemo(
    () => (data?.rows ?? []).filter((row) => fits(row, wanted, kind)),
    [data, wanted, kind],
  )
  if (error !== null) return <Problem text={error.message} />
  if (data === undefined) return <Loading />
  if (data.rows.length === 0)
    return (
      <Empty title="No question was evaluated yet">
        <p className="soft">An evaluation records how each question went:</p>
        <pre>{`magic eval ${name}`}</pre>
      </Empty>
    )
  return (
    <>
      {data.problem !== undefined && <p className="note">{`Some texts are missing. ${data.problem}`}</p>}
      <div className="row">
        <input
          className="field"
          type="search"
          size={34}
          placeholder="Filter by id or words of the question"
          aria-label="Filter questions by id or words"
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
        {kinds.length > 0 && (
          <select aria-label="Kind of question" value={kind} onChange={({ target }) => setKind(target.value)}>
            <option value="">all kinds</option>
            {kinds.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
        <span className="note" role="status">{`${rows.length} of ${data.rows.length} questions`}</span>
      </div>
      <div className="card flush">
        <DataTable label="Questions" rows={rows} columns={columns} idOf={({ task }) => task} />
      </div>
    </>
  )
}

function fits(row: Row, wanted: string, kind: string): boolean {
  const text = `${row.task} ${row.question ?? ''}`.toLowerCase()
  return (kind === '' || row.kind === kind) && text.includes(wanted.toLowerCase())
}

function columnsFor(name: string, organisations: readonly string[], hasKinds: boolean): Column<Row>[] {
  const kind: Column<Row> = {
    id: 'kind',
    header: 'Kind',
    width: '150px',
    value: (row) => row.kind,
    cell: (row) => <span className="soft">{row.kind}</span>,
  }
  return [
    {
      id: 'task',
      header: 'Question',
      width: 'minmax(280px, 1fr)',
      value: ({ task, question }) => question ?? task,
      cell: ({ task, question }) => (
        <Link href={href(['runs', name, 'question'], { task })} title={question ?? task}>
          {question ?? task}
        </Link>
      ),
    },
    ...(hasKinds ? [kind] : []),
    ...organisations.map(
      (label, position): Column<Row> => ({
        id: `score-${position}`,
        header: label,
        width: '104px',
        isNumber: true,
        value: ({ scores }) => scores[position],
        cell: ({ scores }) => (
          <span className={scores[position] === 1 ? 'good' : scores[position] === 0 ? 'bad' : ''}>
            {scoreOf(scores[position])}
          </span>
        ),
      }),
    ),
  ]
}
