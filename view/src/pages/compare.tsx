import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { differenceWithInterval, percent, tokens } from '../../../src/cli/display/numbers.ts'
import type { Comparison } from '../../../src/view/comparison.ts'
import { differencePlot } from '../../../src/view/plots/difference-plot.ts'
import { scatterPlot } from '../../../src/view/plots/scatter-plot.ts'
import { api } from '../api.ts'
import { href, setQuery, useQueryField } from '../location.ts'
import { type Column, DataTable, numberColumn } from '../parts/data-table.tsx'
import { Link } from '../parts/link.tsx'
import { PlainTable } from '../parts/plain-table.tsx'
import { Card, Empty, Loading, Problem, Simulated } from '../parts/shown.tsx'
import { FittedPlot } from '../parts/svg-view.tsx'
import { EvaluationTable, pointsOf } from './run-evaluations.tsx'

/** Organisations of one or several runs on the same questions. */
export function ComparePage(): ReactNode {
  const { data: runs, error } = useQuery(api.runs())
  const [given] = useQueryField('runs')
  if (error !== null) return <Problem text={error.message} />
  if (runs === undefined) return <Loading />
  const evaluated = runs.flatMap((run) => (run.status !== 'damaged' && run.evaluations > 0 ? [run.name] : []))
  const names = given === '' ? evaluated.slice(0, 1) : given.split(',')
  if (evaluated.length === 0)
    return (
      <Empty title="Nothing to compare yet">
        <p className="soft">Evaluations of a run are compared question by question:</p>
        <pre>magic eval RUN --organisation trained,untrained,direct,chain</pre>
      </Empty>
    )
  const toggle = (name: string, isWanted: boolean) => {
    const wanted = isWanted ? [...names, name] : names.filter((one) => one !== name)
    setQuery({ runs: wanted.join(','), base: '', a: '', b: '' })
  }
  return (
    <>
      <h1>Compare</h1>
      <fieldset className="row plain-set">
        <legend className="note">Runs</legend>
        {evaluated.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={names.includes(name)}
              disabled={names.length === 1 && names.includes(name)}
              onChange={({ target }) => toggle(name, target.checked)}
            />{' '}
            {name}
          </label>
        ))}
      </fieldset>
      <Compared runs={names.join(',')} />
    </>
  )
}

function Compared({ runs }: { readonly runs: string }): ReactNode {
  const [split, setSplit] = useQueryField('split')
  const [base, setBase] = useQueryField('base')
  const { data, error } = useQuery(api.compare(runs, split === '' ? 'test' : split, base))
  if (error !== null) return <Problem text={error.message} />
  if (data === undefined) return <Loading />
  if (data.rows.length === 0)
    return (
      <Empty title={`No evaluation on ${data.split} questions`}>
        <p className="soft">{`There are some on ${data.splits.join(', ')}.`}</p>
      </Empty>
    )
  const differences = data.rows.flatMap(({ label, against }) =>
    against === undefined ? [] : [{ label, ...against }],
  )
  return (
    <>
      <div className="row">
        <label>
          Questions{' '}
          <select value={data.split} onChange={({ target }) => setSplit(target.value)}>
            {data.splits.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Compared with{' '}
          <select value={data.base} onChange={({ target }) => setBase(target.value)}>
            {data.rows.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </label>
        <Simulated when={data.rows.some(({ simulated }) => simulated)} />
      </div>
      <Card title="Score against tokens" note="with 95 % intervals; the line is the Pareto frontier">
        <FittedPlot
          draw={(width) =>
            scatterPlot({ points: pointsOf(data.rows), metric: data.metric, formatTokens: tokens, width })
          }
        />
      </Card>
      {differences.length > 0 && (
        <Card
          title={`Paired differences from ${data.base}`}
          note="on the same questions, with 95 % intervals by paired bootstrap; one that excludes zero is unlikely to be chance"
        >
          <FittedPlot draw={(width) => differencePlot(differences, data.base, width)} />
          <PlainTable
            rows={differences}
            idOf={({ label }) => label}
            columns={[
              ['Organisation', ({ label }) => label],
              [
                'Difference, points',
                ({ difference: mean, low, high }) => differenceWithInterval({ mean, low, high }),
                'number',
              ],
              ['Detectable, points', ({ detectable }) => (detectable * 100).toFixed(1), 'number'],
              ['Won', ({ wins }) => wins, 'number'],
              ['Lost', ({ losses }) => losses, 'number'],
              ['Tied', ({ ties }) => ties, 'number'],
              [
                'Tokens',
                ({ tokenRatio }) => (tokenRatio === undefined ? '–' : `× ${tokenRatio.toFixed(2)}`),
                'number',
              ],
            ]}
          />
          <p className="note after">
            Detectable: the smallest difference that so many questions show in four evaluations of five. A
            smaller one needs more questions.
          </p>
        </Card>
      )}
      {data.matched.length > 0 && <AtMatchedTokens rows={data.matched} />}
      <section className="card flush" aria-label="Evaluations">
        <EvaluationTable rows={data.rows} metric={data.metric} />
      </section>
      {data.rows.length > 1 && <Disagreements data={data} />}
      {data.settings.length > 0 && <SettingsThatDiffer data={data} runs={runs.split(',')} />}
    </>
  )
}

/** Each organisation compared with self-consistency at the same tokens. */
function AtMatchedTokens({ rows }: { readonly rows: Comparison['matched'] }): ReactNode {
  return (
    <Card
      title="At matched tokens"
      note="each organisation compared with self-consistency: the most answers within its tokens, and the next step above"
    >
      <PlainTable
        rows={rows}
        idOf={({ organisation }) => organisation}
        columns={[
          ['Organisation', ({ organisation }) => organisation],
          ['Tokens / question', (row) => tokens(row.tokens), 'number'],
          ['Self-consistency within', ({ within }) => settingText(within), 'number'],
          [
            'Difference, points',
            ({ against }) =>
              against === undefined ? '–' : differenceWithInterval({ ...against, mean: against.difference }),
            'number',
          ],
          ['One step above', ({ above }) => settingText(above), 'number'],
        ]}
      />
    </Card>
  )
}

function settingText(one: Comparison['matched'][number]['within']): string {
  return one === undefined ? '–' : `${percent(one.score)}, k = ${one.answers}, ${tokens(one.tokens)} tokens`
}

interface Disagreement {
  readonly task: string
  readonly question: string | null
  readonly a: number
  readonly b: number
}

/** The questions on which two organisations have different scores. */
function Disagreements({ data }: { readonly data: Comparison }): ReactNode {
  const labels = data.rows.map(({ label }) => label)
  const [givenA, setA] = useQueryField('a')
  const [givenB, setB] = useQueryField('b')
  const a = labels.includes(givenA)
    ? givenA
    : (labels.find((label) => label.endsWith('trained') && label !== data.base) ?? labels[0]!)
  const b = labels.includes(givenB) ? givenB : data.base
  const rows = useMemo(() => {
    const [own, other] = [data.scores[labels.indexOf(a)]!, data.scores[labels.indexOf(b)]!]
    return data.tasks.flatMap((task, position): Disagreement[] => {
      const [first, second] = [own[position] ?? null, other[position] ?? null]
      if (first === null || second === null || first === second) return []
      return [{ task, question: data.questions[position] ?? null, a: first, b: second }]
    })
  }, [data, labels.indexOf, a, b])
  const columns = useMemo((): Column<Disagreement>[] => {
    const run = data.rows.find(({ label }) => label === a)!.run
    const within = (label: string) => label.replace(`${run}: `, '')
    return [
      {
        id: 'question',
        header: 'Question',
        width: 'minmax(320px, 1fr)',
        value: ({ task, question }) => question ?? task,
        cell: ({ task, question }) => (
          <Link
            href={href(['runs', run, 'question'], { task, by: within(a), beside: within(b) })}
            title={question ?? task}
          >
            {question ?? task}
          </Link>
        ),
      },
      numberColumn('first', a, '170px', (row) => row.a, percent),
      numberColumn('second', b, '170px', (row) => row.b, percent),
      {
        id: 'better',
        header: 'Better',
        width: '170px',
        value: (row) => (row.a > row.b ? a : b),
        cell: (row) => (row.a > row.b ? a : b),
      },
    ]
  }, [data, a, b])
  const won = rows.filter((row) => row.a > row.b).length
  const choice = (label: string, value: string, set: (value: string) => void) => (
    <select aria-label={label} value={value} onChange={({ target }) => set(target.value)}>
      {labels.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  )
  return (
    <Card
      title="Where they disagree"
      note={`${rows.length} of ${data.tasks.length} questions: ${a} is better on ${won}, ${b} on ${rows.length - won}`}
      flush
    >
      <p className="row inset">
        {choice('First organisation', a, setA)} and {choice('Second organisation', b, setB)}
      </p>
      {rows.length === 0 ? (
        <p className="inset soft">They have the same score on every question that both answered.</p>
      ) : (
        <DataTable
          label="Disagreements"
          rows={rows}
          columns={columns}
          idOf={({ task }) => task}
          sortField="order"
        />
      )}
    </Card>
  )
}

function SettingsThatDiffer({
  data,
  runs,
}: {
  readonly data: Comparison
  readonly runs: readonly string[]
}): ReactNode {
  return (
    <Card title="Settings that differ">
      <PlainTable
        rows={data.settings}
        idOf={({ name }) => name}
        columns={[
          ['Setting', ({ name }) => <code>{name}</code>],
          ...runs.map(
            (run, position) =>
              [
                run,
                ({ values }: Comparison['settings'][number]) => JSON.stringify(values[position]),
                'number',
              ] as const,
          ),
        ]}
      />
    </Card>
  )
}
