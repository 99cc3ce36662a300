import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { tokens } from '../../../src/cli/display/numbers.ts'
import { heatMap } from '../../../src/view/plots/heat-map.ts'
import type { RunCurves, RunDetail } from '../../../src/view/run-detail.ts'
import { api } from '../api.ts'
import { Chart, type Series } from '../parts/chart.tsx'
import { Card, Empty, Loading, Problem } from '../parts/shown.tsx'
import { FittedPlot } from '../parts/svg-view.tsx'

/** Values of single updates jump, so the strong line is a mean of this many. */
const smoothing = 10

export function RunLearning({ name, run }: { readonly name: string; readonly run: RunDetail }): ReactNode {
  const { data: curves, error } = useQuery(api.curves(name))
  if (error !== null) return <Problem text={error.message} />
  if (curves === undefined) return <Loading />
  if (curves.update.length === 0)
    return (
      <Empty title="No update yet">
        <p className="soft">The curves start with the first update.</p>
      </Empty>
    )
  return (
    <>
      <Curves curves={curves} />
      <Card
        title="Roles it uses"
        note="share of the placed units by role, as one agent or as a group; a stronger colour means more often"
      >
        <FittedPlot draw={(width) => heatMap(run.heat, width)} />
      </Card>
    </>
  )
}

function Curves({ curves }: { readonly curves: RunCurves }): ReactNode {
  const charts = useMemo(() => chartsOf(curves), [curves])
  return (
    <div className="grid">
      {charts.map((chart) => (
        <Chart key={chart.title} x={curves.update} {...chart} />
      ))}
    </div>
  )
}

function chartsOf(curves: RunCurves) {
  const window = Math.min(smoothing, Math.max(1, Math.floor(curves.update.length / 3)))
  const note = window > 1 ? `mean of ${window}` : undefined
  const smooth = (name: string, values: readonly (number | null)[]): Series[] => [
    { name: `${name}, each update`, values, isFaint: true },
    { name, values: trailingMean(values, window) },
  ]
  const fixed = (value: number) =>
    Math.abs(value) < 0.01 && value !== 0 ? value.toExponential(1) : value.toFixed(3)
  const share = (value: number) => `${(value * 100).toFixed(0)} %`
  return [
    { title: 'Score', series: smooth('score', curves.score), format: share, note },
    { title: 'Return', series: smooth('return', curves.return), format: fixed, note },
    { title: 'Entropy', series: smooth('entropy', curves.entropy), format: fixed, note },
    { title: 'KL to the start', series: smooth('KL', curves.divergence), format: fixed, note },
    { title: 'Loss', series: smooth('loss', curves.loss), format: fixed, note },
    { title: 'Policy loss', series: smooth('policy loss', curves.policyLoss), format: fixed, note },
    { title: 'Temperature', series: [{ name: 'temperature', values: curves.temperature }], format: fixed },
    { title: 'Tokens made', series: smooth('made', curves.made), format: tokens, note },
    { title: 'Tokens reused', series: smooth('reused', curves.reused), format: tokens, note },
    ...(curves.cost.some((cost) => cost > 0)
      ? [{ title: 'Cost', series: smooth('cost', curves.cost), format: fixed, note }]
      : []),
    {
      title: 'Seconds per update',
      series: smooth('seconds', curves.seconds),
      format: (value: number) => value.toFixed(1),
      note,
    },
  ]
}

/** At each position, the mean of the last values in the window. Missing values are skipped. */
function trailingMean(values: readonly (number | null)[], window: number): (number | null)[] {
  const recent: number[] = []
  let sum = 0
  return values.map((value) => {
    if (value === null) return null
    recent.push(value)
    sum += value - (recent.length > window ? recent[recent.length - 1 - window]! : 0)
    return sum / Math.min(window, recent.length)
  })
}
