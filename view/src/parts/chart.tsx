import { type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { shortTick } from '../../../src/view/plots/axis.ts'
import { useTheme } from '../theme.ts'

export interface Series {
  readonly name: string
  /** Null where there is no value. */
  readonly values: readonly (number | null)[]
  /** Drawn behind the others. */
  readonly isFaint?: boolean
}

interface ChartOptions {
  readonly title: string
  readonly x: readonly number[]
  /** The caption shows the newest value of the last one. */
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly note?: string
}

const height = 190

/** A curve over the updates. All charts of a page share their cursor. */
export function Chart({ title, x, series, format, note }: ChartOptions): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const { shown: theme } = useTheme()
  const shape = series.map(({ name, isFaint }) => `${name} ${isFaint}`).join()
  const drawn = useRef({ x, series, format })
  drawn.current = { x, series, format }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new theme or other lines need a new chart; new data do not
  useEffect(() => {
    const element = place.current!
    const made = new uPlot(
      options(element, drawn.current.series, drawn.current.format),
      data(drawn.current),
      element,
    )
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [theme, shape])

  useEffect(() => {
    plot.current?.setData(data({ x, series }))
  }, [x, series])

  const main = series.at(-1)!.values.filter((value) => value !== null)
  const [first, last] = [main[0], main.at(-1)]
  const summary =
    first === undefined
      ? 'no updates yet'
      : `from ${format(first)} to ${format(last!)} over ${x.length} updates`
  return (
    <figure className="chart card">
      <figcaption>
        <h3>{title}</h3>
        {note !== undefined && <span className="note">{note}</span>}
        <b>{last === undefined ? '–' : format(last)}</b>
      </figcaption>
      <div className="canvas" ref={place} role="img" aria-label={`${title}: ${summary}`} />
    </figure>
  )
}

function data({ x, series }: Pick<ChartOptions, 'x' | 'series'>): uPlot.AlignedData {
  return [x as number[], ...series.map(({ values }) => values as (number | null)[])]
}

function options(
  element: HTMLElement,
  series: readonly Series[],
  format: (value: number) => string,
): uPlot.Options {
  const colour = (name: string) => resolvedColour(element, name)
  const accent = colour('--accent')
  const axis: uPlot.Axis = {
    stroke: colour('--soft'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('--border'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height,
    cursor: { sync: { key: 'updates' }, drag: { x: true, y: false }, points: { size: 7 } },
    legend: { show: false },
    scales: { x: { time: false } },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 70 },
      { ...axis, size: 54, values: (_, ticks) => ticks.map((tick) => shortTick(format(tick))) },
    ],
    series: [
      {},
      ...series.map(({ name, isFaint }): uPlot.Series => {
        const stroke = isFaint ? mixed(accent, 0.32) : accent
        return { label: name, stroke, width: isFaint ? 1 : 2, points: { show: false }, spanGaps: true }
      }),
    ],
  }
}

/** A colour of the style sheet with light-dark() resolved, as a canvas needs it. */
function resolvedColour(element: HTMLElement, name: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function mixed(colour: string, alpha: number): string {
  return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`)
}
