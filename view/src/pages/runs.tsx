import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { duration, percent, tokens } from '../../../src/cli/display/numbers.ts'
import type { RunRow } from '../../../src/view/run-row.ts'
import { api, type SoundRow } from '../api.ts'
import { href, setQuery, useQueryField } from '../location.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Link } from '../parts/link.tsx'
import {
  costShown,
  Empty,
  IntervalBar,
  Loading,
  Problem,
  Progress,
  Simulated,
  Status,
} from '../parts/shown.tsx'

const states = ['training', 'finished', 'stopped', 'damaged'] as const

/** All runs of a folder, to filter, sort and select for comparison. */
export function RunsPage(): ReactNode {
  const { data: runs, error } = useQuery(api.runs())
  const { data: about } = useQuery(api.about())
  const [wanted, setWanted] = useQueryField('q')
  const [state, setState] = useQueryField('status')
  const [marked] = useQueryField('selected')
  const selected = useMemo(() => new Set(marked.split(',').filter(Boolean)), [marked])
  const shown = useMemo(() => (runs ?? []).filter((run) => fits(run, wanted, state)), [runs, wanted, state])
  const columns = useMemo(() => columnsFor(selected), [selected])
  if (error !== null) return <Problem text={error.message} />
  if (runs === undefined) return <Loading />
  const chosen = runs.map(({ name }) => name).filter((name) => selected.has(name))
  return (
    <>
      <div className="head">
        <div className="grow">
          <h1>Runs</h1>
          <p className="note">{about?.runs}</p>
        </div>
        {chosen.length > 0 && (
          <Link className="button main" href={href(['compare'], { runs: chosen.join(',') })}>
            Compare {chosen.length === 1 ? 'its organisations' : `${chosen.length} runs`}
          </Link>
        )}
      </div>
      {runs.length === 0 ? (
        <Empty title="No runs yet">
          <p className="soft">
            A run appears here as soon as it starts. This one takes seconds and needs no key:
          </p>
          <pre>magic demo --quick</pre>
        </Empty>
      ) : (
        <>
          <div className="row">
            <input
              className="field"
              type="search"
              placeholder="Filter by name, tasks or model"
              aria-label="Filter runs by name, tasks or model"
              size={30}
              value={wanted}
              onChange={({ target }) => setWanted(target.value)}
            />
            <span className="choice note" role="group" aria-label="Status">
              {['', ...states].map((one) => (
                <button key={one} type="button" aria-pressed={state === one} onClick={() => setState(one)}>
                  {one === '' ? 'all' : one}
                </button>
              ))}
            </span>
            <span className="note" role="status">
              {shown.length === runs.length
                ? `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`
                : `${shown.length} of ${runs.length} runs`}
            </span>
          </div>
          <div className="card flush">
            <DataTable
              label="Runs"
              rows={shown}
              columns={columns}
              idOf={({ name }) => name}
              isSelected={({ name }) => selected.has(name)}
            />
          </div>
          {shown.map((run) =>
            run.status === 'damaged' ? (
              <Problem key={run.name} text={`${run.name} cannot be read. ${run.problem}`} />
            ) : null,
          )}
          <p className="note">
            Score: the trained policy on held-out questions, with its 95 % interval; before an evaluation, the
            mean of the last updates on training questions.
          </p>
        </>
      )}
    </>
  )
}

function fits(run: RunRow, wanted: string, state: string): boolean {
  const text =
    run.status === 'damaged' ? run.name : `${run.name} ${run.tasks.name} ${run.tasks.title} ${run.model}`
  return (state === '' || run.status === state) && text.toLowerCase().includes(wanted.toLowerCase())
}

function columnsFor(selected: ReadonlySet<string>): Column<RunRow>[] {
  const mark = (name: string, isMarked: boolean) => {
    const names = new Set(selected)
    if (isMarked) names.add(name)
    else names.delete(name)
    setQuery({ selected: [...names].join(',') })
  }
  const sound = (read: (run: SoundRow) => ReactNode) => (run: RunRow) =>
    run.status === 'damaged' ? null : read(run)
  const number = (read: (run: SoundRow) => number | undefined) => (run: RunRow) =>
    run.status === 'damaged' ? undefined : read(run)
  return [
    {
      id: 'selected',
      header: '',
      width: '52px',
      cell: sound(({ name }) => (
        <input
          type="checkbox"
          aria-label={`Compare ${name}`}
          checked={selected.has(name)}
          onChange={({ target }) => mark(name, target.checked)}
        />
      )),
    },
    {
      id: 'name',
      header: 'Run',
      width: 'minmax(150px, 1.6fr)',
      value: ({ name }) => name,
      cell: (run) =>
        run.status === 'damaged' ? run.name : <Link href={href(['runs', run.name])}>{run.name}</Link>,
    },
    {
      id: 'status',
      header: 'Status',
      width: '100px',
      value: ({ status }) => status,
      cell: ({ status }) => <Status of={status} />,
    },
    {
      id: 'progress',
      header: 'Progress',
      width: '150px',
      value: number(({ done, updates }) => (updates === 0 ? 1 : done / updates)),
      cell: sound(({ done, updates }) => (
        <>
          <Progress done={done} of={updates} /> <span className="note">{`${done}/${updates}`}</span>
        </>
      )),
    },
    {
      id: 'tasks',
      header: 'Tasks',
      width: 'minmax(100px, 1fr)',
      value: (run) => (run.status === 'damaged' ? undefined : run.tasks.name),
      cell: sound(({ tasks }) => <span title={tasks.title}>{tasks.name}</span>),
    },
    {
      id: 'model',
      header: 'Model',
      width: 'minmax(100px, 1fr)',
      value: (run) => (run.status === 'damaged' ? undefined : run.model),
      cell: sound(({ model, simulated }) =>
        simulated ? <Simulated when /> : <span title={model}>{model}</span>,
      ),
    },
    {
      id: 'score',
      header: 'Score',
      width: '228px',
      isNumber: true,
      value: number(({ score, trainingScore }) => score?.mean ?? trainingScore?.mean),
      cell: sound(({ score, trainingScore }) => {
        if (score !== undefined)
          return (
            <>
              <IntervalBar of={score} /> <b>{percent(score.mean)}</b>{' '}
              <span className="note">{`${(score.low * 100).toFixed(0)}–${(score.high * 100).toFixed(0)}`}</span>
            </>
          )
        return trainingScore === undefined ? (
          '–'
        ) : (
          <span className="soft">{percent(trainingScore.mean)} training</span>
        )
      }),
    },
    {
      id: 'tokens',
      header: 'Tokens',
      width: '86px',
      isNumber: true,
      value: number((run) => run.tokens),
      cell: sound((run) => tokens(run.tokens)),
    },
    {
      id: 'cost',
      header: 'Cost',
      width: '76px',
      isNumber: true,
      value: number(({ cost }) => (cost === undefined || cost === 'unpriced' ? undefined : cost.amount)),
      cell: sound(({ cost, simulated }) => costShown(cost, simulated)),
    },
    {
      id: 'last',
      header: 'Last update',
      width: '124px',
      isNumber: true,
      value: number(({ lastUpdateAt, createdAt }) => Date.parse(lastUpdateAt ?? createdAt)),
      cell: sound(({ lastUpdateAt, createdAt }) => (
        <span className="soft">{agoOf(lastUpdateAt ?? createdAt)}</span>
      )),
    },
  ]
}

/** In the largest unit only, so that it fits into a narrow column. */
function agoOf(time: string): string {
  const [amount, unit] = duration(Date.now() - Date.parse(time)).split(' ')
  return `${amount} ${unit} ago`
}
