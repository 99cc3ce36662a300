import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { duration, rate, tokens } from '../../../src/cli/display/numbers.ts'
import type { WorkOverview } from '../../../src/workers/overview.ts'
import { api } from '../api.ts'
import { type Column, DataTable, numberColumn } from '../parts/data-table.tsx'
import { Card, Empty, Loading, Problem, Tile } from '../parts/shown.tsx'
import { visible } from '../text.ts'

type WorkerRow = WorkOverview['workers'][number]
type QueuedRun = WorkOverview['queue']['runs'][number]
type CalledModel = WorkOverview['models'][number]

/** What each worker is doing, how fast, and what is waiting. */
export function WorkersPage(): ReactNode {
  const { data: work, error } = useQuery(api.workers())
  if (work === undefined) return error === null ? <Loading /> : <Problem text={error.message} />
  const { workers, queue, models, refusals } = work
  const calls = workers.reduce((sum, worker) => sum + worker.calls, 0)
  return (
    <>
      <div className="head">
        <div className="grow">
          <h1>Workers</h1>
          <p className="soft">
            Processes that run graphs for <code>--workers</code>
          </p>
        </div>
      </div>
      {error !== null && <Problem text={`${error.message} The page shows the last known state.`} />}
      <dl className="tiles">
        <Tile
          name="waiting evaluations"
          value={tokens(queue.waiting)}
          note={queue.waiting > 0 ? `oldest: ${duration(queue.oldestSeconds * 1000)}` : undefined}
        />
        <Tile name="under way" value={tokens(queue.running)} />
        <Tile name="done" value={rate(queue.rate)} note="over the last minute" />
        <Tile name="workers" value={workers.length} note={`up to ${calls} concurrent calls`} />
      </dl>
      {workers.length === 0 ? (
        <Empty title="No workers are running">
          <p className="soft">Start one on any machine that can reach the same PostgreSQL:</p>
          <pre>magic worker</pre>
        </Empty>
      ) : (
        <section className="card flush" aria-label="Workers">
          <DataTable label="Workers" rows={workers} columns={workerColumns} idOf={({ id }) => id} />
        </section>
      )}
      {refusals.map(({ worker, reason }) => (
        <Problem key={`${worker} ${reason}`} text={visible(`${worker} refuses a run: ${reason}.`)} />
      ))}
      {queue.runs.length > 0 && (
        <Card title="Queue" note="evaluations by run" flush>
          <DataTable
            label="Queue"
            rows={queue.runs}
            columns={queueColumns}
            idOf={({ run }) => run}
            sortField="queueSort"
          />
        </Card>
      )}
      {models.length > 0 && (
        <Card title="Models" note="calls of all workers, and their shared limits" flush>
          <DataTable
            label="Models"
            rows={models}
            columns={modelColumns}
            idOf={({ model }) => model}
            sortField="modelSort"
          />
        </Card>
      )}
    </>
  )
}

const dots: Readonly<Record<WorkerRow['state'], string>> = {
  working: 'training',
  draining: '',
  silent: 'lost',
}

const workerColumns: readonly Column<WorkerRow>[] = [
  {
    id: 'name',
    header: 'Worker',
    width: 'minmax(160px, 2fr)',
    value: ({ name }) => name,
    cell: ({ name }) => <span title={visible(name)}>{visible(name)}</span>,
  },
  {
    id: 'state',
    header: 'State',
    width: '110px',
    value: ({ state }) => state,
    cell: ({ state }) => (
      <span className="pill">
        <i className={`dot ${dots[state]}`} />
        {state}
      </span>
    ),
  },
  {
    id: 'on',
    header: 'Works on',
    width: 'minmax(160px, 3fr)',
    cell: ({ runs }) => visible(runs.map(({ run, running }) => `${run} (${running})`).join(', ')) || '–',
  },
  numberColumn('running', 'Under way', '110px', ({ running }) => running, tokens),
  numberColumn('done', 'Done', '110px', ({ done }) => done, tokens),
  numberColumn('rate', 'Speed', '110px', (worker) => worker.rate, rate),
  numberColumn('calls', 'Max calls', '110px', ({ calls }) => calls, String),
  numberColumn(
    'seconds',
    'Up for',
    '110px',
    ({ seconds }) => seconds,
    (seconds) => duration(seconds * 1000),
  ),
]

const queueColumns: readonly Column<QueuedRun>[] = [
  {
    id: 'run',
    header: 'Run',
    width: 'minmax(160px, 3fr)',
    value: ({ run }) => run,
    cell: ({ run }) => visible(run),
  },
  numberColumn('waiting', 'Waiting', '110px', ({ waiting }) => waiting, tokens),
  numberColumn('running', 'Under way', '110px', ({ running }) => running, tokens),
]

const modelColumns: readonly Column<CalledModel>[] = [
  {
    id: 'model',
    header: 'Model',
    width: 'minmax(160px, 3fr)',
    value: ({ model }) => model,
    cell: ({ model }) => visible(model),
  },
  numberColumn(
    'calls',
    'Calls/min',
    '110px',
    ({ callsPerMinute }) => callsPerMinute,
    (value) => tokens(Math.round(value)),
  ),
  numberColumn('limit', 'Limit/min', '110px', ({ requestsPerMinute }) => requestsPerMinute, tokens),
  numberColumn('tokens', 'Tokens/min', '110px', ({ tokensPerMinute }) => tokensPerMinute, tokens),
  numberColumn(
    'learned',
    'Learned/min',
    '110px',
    ({ learnedPerMinute }) => learnedPerMinute,
    (value) => tokens(Math.round(value)),
  ),
]
