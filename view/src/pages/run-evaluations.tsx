import { type ReactNode, useMemo } from 'react'
import { tokens } from '../../../src/cli/display/numbers.ts'
import type { EvaluationRow } from '../../../src/view/evaluation-rows.ts'
import { scatterPlot } from '../../../src/view/plots/scatter-plot.ts'
import type { RunDetail } from '../../../src/view/run-detail.ts'
import { href } from '../location.ts'
import { type Column, DataTable, numberColumn } from '../parts/data-table.tsx'
import { Link } from '../parts/link.tsx'
import { Card, costShown, Empty, IntervalBar, ScoreText, Simulated } from '../parts/shown.tsx'
import { FittedPlot } from '../parts/svg-view.tsx'

export function RunEvaluations({ name, run }: { readonly name: string; readonly run: RunDetail }): ReactNode {
  const { metric } = run.about.tasks
  const splits = useMemo(() => [...Map.groupBy(run.evaluations, ({ split }) => split)], [run.evaluations])
  if (splits.length === 0)
    return (
      <Empty title="Not evaluated yet">
        <p className="soft">Score the policy and its baselines on held-out questions:</p>
        <pre>{`magic eval ${name} --organisation trained,untrained,direct,chain`}</pre>
      </Empty>
    )
  return splits.map(([split, rows]) => (
    <div className="stack" key={split}>
      <Card
        title={`Score against tokens, ${split} questions`}
        note="with 95 % intervals; the line is the Pareto frontier"
      >
        <FittedPlot
          draw={(width) => scatterPlot({ points: pointsOf(rows), metric, formatTokens: tokens, width })}
        />
      </Card>
      <section className="card flush" aria-label={`Evaluations on ${split} questions`}>
        <EvaluationTable rows={rows} metric={metric} />
      </section>
      <p className="row">
        <Link className="button" href={href(['compare'], { runs: name, split })}>
          Paired differences and disagreements
        </Link>
      </p>
    </div>
  ))
}

export function pointsOf(rows: readonly EvaluationRow[]) {
  return rows.map(({ label, tokens: used, score }) => ({ label, tokens: used.total, score }))
}

/** What the implementation of a system from the literature is based on. */
const fidelityColumn: Column<EvaluationRow> = {
  id: 'fidelity',
  header: 'Fidelity',
  width: '122px',
  value: ({ fidelity }) => fidelity,
  cell: ({ fidelity }) => <span className="soft">{fidelity}</span>,
}

export function EvaluationTable({
  rows,
  metric,
}: {
  readonly rows: readonly EvaluationRow[]
  readonly metric: string
}): ReactNode {
  const columns = useMemo(
    (): Column<EvaluationRow>[] => [
      {
        id: 'organisation',
        header: 'Organisation',
        width: 'minmax(210px, 1fr)',
        value: ({ label }) => label,
        cell: ({ label, description, simulated }) => (
          <span className="named" title={`${label}: ${description}`}>
            <span className="cut">{label}</span>
            <Simulated when={simulated} />
          </span>
        ),
      },
      ...(rows.some(({ fidelity }) => fidelity !== undefined) ? [fidelityColumn] : []),
      {
        id: 'score',
        header: `${metric} [95 %]`,
        width: '256px',
        isNumber: true,
        value: ({ score }) => score.mean,
        cell: ({ score }) => (
          <>
            <IntervalBar of={score} /> <ScoreText of={score} />
          </>
        ),
      },
      {
        id: 'n',
        header: 'Questions',
        width: '92px',
        isNumber: true,
        value: ({ n }) => n,
        cell: ({ n, total, complete }) => (complete ? n : `${n} of ${total}`),
      },
      numberColumn('tokens', 'Tokens / question', '92px', (row) => row.tokens.total, tokens),
      numberColumn(
        'calls',
        'Calls / question',
        '92px',
        ({ calls }) => calls,
        (calls) => calls.toFixed(1),
      ),
      {
        id: 'units',
        header: 'Units',
        width: '172px',
        isNumber: true,
        value: ({ units }) => units.mean,
        cell: ({ units }) => `${units.mean.toFixed(1)} (${(units.groups * 100).toFixed(0)} % groups)`,
      },
      numberColumn('failed', 'Failed', '68px', ({ failures }) => failures.unanswered, String),
      {
        id: 'cost',
        header: 'Cost',
        width: '76px',
        isNumber: true,
        value: ({ cost }) => (cost === 'unpriced' ? undefined : cost.amount),
        cell: ({ cost, simulated }) => costShown(cost, simulated),
      },
    ],
    [metric, rows],
  )
  return <DataTable label="Evaluations" rows={rows} columns={columns} idOf={({ label }) => label} />
}
