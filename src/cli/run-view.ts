import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { drawGraph } from '../graph/render/terminal.ts'
import { evaluationLabels, type KeptEvaluation, latestEvaluations } from '../runs/compare-evaluations.ts'
import type { DifferingSetting } from '../runs/differing-settings.ts'
import type { RunFolder, RunRecord } from '../runs/run-folder.ts'
import { type FinalGraph, fifthOf, placedUnits, type RunOverview } from '../runs/run-overview.ts'
import { meanOf } from '../runs/statistics.ts'
import type { TokenCount, UpdateRecord } from '../runs/update-record.ts'
import { actionsMix } from './display/actions-mix.ts'
import { drawChart } from './display/curve.ts'
import { foldText } from './display/fold-text.ts'
import { duration, percent, tokens } from './display/numbers.ts'
import { type Screen, shownText } from './display/screen.ts'
import { present, type Series, smoothed } from './display/series.ts'
import { sparkline } from './display/sparkline.ts'
import { terminalTable } from './display/table.ts'
import {
  costText,
  evaluationTable,
  isSimulatedModel,
  simulatedNote,
  tableLegend,
} from './evaluation-table.ts'
import { counted } from './terminal-text.ts'
import { runWord } from './training-summary.ts'

/** Curves are means of so many updates: single ones jump between right and wrong. */
const smoothing = 10

/** A run on one page. */
export function runText(
  overview: RunOverview,
  folder: RunFolder,
  finals: readonly FinalGraph[],
  graphsToDraw: number,
  screen: Screen,
): string {
  const { updates } = overview
  const sections = [
    facts(overview, folder, screen),
    ...(updates.length === 0 ? [] : [curves(updates, screen), actions(updates, screen)]),
    ...(finals.length === 0 ? [] : [graphs(finals, graphsToDraw, fifthOf(updates.length), screen)]),
  ]
  return sections.join('\n')
}

function facts(overview: RunOverview, folder: RunFolder, screen: Screen): string {
  const { record, departures, updates } = overview
  const { tasks, model, encoder, profile, concurrency, version, createdAt } = record
  const splits = Object.entries(tasks.splits).map(([name, split]) => `${split.tasks} ${name}`)
  const isSimulated = isSimulatedRun(record)
  const lines: (readonly [name: string, text: string])[] = [
    ['tasks', `${tasks.title} (${tasks.name}), ${splits.join(', ')}, ${tasks.metric}`],
    ['model', `${model.provider}/${model.model}${isSimulated ? ': all scores are simulated' : ''}`],
    ['roles', `${profile.roles.length}, tools ${profile.tools.join(', ') || 'none'}`],
    [
      'encoder',
      encoder.name === lexicalEncoder.name ? `${encoder.name} (the paper's is MiniLM)` : encoder.name,
    ],
    ['settings', settingsText(departures)],
    ['budget', budgetText(record)],
    ['spent', spentText(overview, isSimulated)],
    ...(updates.length === 0 ? [] : [['speed', speedText(updates, concurrency)] as const]),
    ['begun', `${createdAt.replace('T', ' ').slice(0, 16)} UTC, version ${version}`],
    ['state', stateText(overview, folder)],
  ]
  const heading = screen.paint('bold', shownText(`Run ${record.name}`, screen))
  return `${[heading, ...lines.map(([name, text]) => `  ${name.padEnd(8)}  ${foldText(shownText(text, screen), Math.max(20, screen.columns - 13), ' '.repeat(12))}`)].join('\n')}\n`
}

function settingsText(departures: readonly DifferingSetting[]): string {
  if (departures.length === 0) return "the paper's"
  const shown = (value: unknown) => (value === undefined ? 'unset' : JSON.stringify(value))
  const parts = departures.map(({ name, values: [paper, own] }) => `${name} ${shown(own)} (${shown(paper)})`)
  return `the paper's but for (its own in brackets) ${parts.join(', ')}`
}

function budgetText({ budget }: RunRecord): string {
  const units = { cost: 'money', tokens: 'tokens', calls: 'calls', minutes: 'minutes' } as const
  const caps = (Object.keys(units) as (keyof typeof units)[]).flatMap((cap) =>
    budget[cap] === undefined ? [] : [`${budget[cap]} ${units[cap]}`],
  )
  return caps.length === 0 ? 'no cap' : `at most ${caps.join(', ')}`
}

function spentText({ updates, made, reused }: RunOverview, isSimulated: boolean): string {
  const spent = updates.at(-1)?.spent
  if (spent === undefined) return 'nothing yet'
  const saved = reused.input + reused.output
  const share = saved / (saved + made.input + made.output)
  return [
    `${tokens(spent.input + spent.output)} tokens in ${counted(spent.calls, 'call')}`,
    `${tokens(saved)} more reused (${percent(share)})`,
    costText(spent.cost, isSimulated),
    duration(spent.minutes * 60_000),
  ].join(', ')
}

function speedText(updates: readonly UpdateRecord[], concurrency: number): string {
  const wall = meanOf(updates.map(({ wallMs }) => wallMs))
  const bound = meanOf(updates.map(({ boundMs }) => boundMs))
  const ratio = bound > 0 ? `, ${(wall / bound).toFixed(2)} times what its calls allow at best` : ''
  return `${duration(wall)} per update${ratio} (${concurrency} in flight)`
}

function stateText({ record, done, isFinished, updates }: RunOverview, folder: RunFolder): string {
  const run = runWord(folder.path)
  const count = `${done} of ${counted(record.updates, 'update')}`
  if (isFinished) return `finished, ${count}; next: \`magic eval ${run}\``
  const last = updates.at(-1)
  const when = last === undefined ? '' : `, the last ${duration(Date.now() - Date.parse(last.at))} ago`
  return `${count}${when}; if nobody is at work on it: \`magic resume ${run}\``
}

/** The score as a chart, and what belongs to it as small curves with where they began and where they are. */
function curves(updates: readonly UpdateRecord[], screen: Screen): string {
  const window = Math.min(smoothing, Math.max(1, Math.floor(updates.length / 3)))
  const suffix = window > 1 ? ` (mean of ${window} updates)` : ''
  const chart = drawChart(
    {
      title: `Score on training questions${suffix}`,
      curves: [
        {
          name: '',
          values: movingMean(
            updates.map(({ score }) => score),
            window,
          ),
        },
      ],
      range: [0, 1],
      x: { label: 'update' },
      format: (value) => value.toFixed(2),
    },
    screen,
  )
  const meanReturn = ({ returns }: UpdateRecord) => meanOf(returns.map(([first = 0]) => first))
  const small: [string, (update: UpdateRecord) => number, (value: number) => string][] = [
    ['return', meanReturn, fixed],
    ['entropy', ({ loss }) => loss.entropy, fixed],
    ['KL', ({ loss }) => loss.divergence, fixed],
    ['loss', ({ loss }) => loss.total, fixed],
    ['tokens made', ({ made }) => countOf(made), tokens],
    ['tokens reused', ({ reused }) => countOf(reused), tokens],
  ]
  const arrow = screen.ascii ? '->' : '→'
  const rows = small.map(([name, read, shown]) => {
    const values = movingMean(updates.map(read), window)
    const known = values.filter(present)
    return { name, values: known, text: `${shown(known[0]!)} ${arrow} ${shown(known.at(-1)!)}` }
  })
  const width = Math.max(...rows.map(({ text }) => text.length))
  const lines = rows.map(
    ({ name, values, text }) => `  ${name.padEnd(13)}  ${text.padEnd(width)}  ${line(values, width, screen)}`,
  )
  return `${chart}\n${screen.paint('bold', `Per update${suffix}`)}\n${lines.map((text) => `${text.trimEnd()}\n`).join('')}`
}

/** Only whole means: one of the first few updates would pretend to know more than it does. */
function movingMean(values: readonly number[], window: number): Series {
  return smoothed(values, window).map((value, index) => (index < window - 1 ? undefined : value))
}

function line(values: Series, textWidth: number, screen: Screen): string {
  const room = Math.min(60, screen.columns - textWidth - 20)
  return screen.paint('cyan', sparkline(values, screen, { width: Math.max(1, room) }))
}

function fixed(value: number): string {
  // What rounding leaves of nothing is nothing.
  const isSmall = Math.abs(value) < 0.001 && Math.abs(value) > 1e-9
  return isSmall ? value.toExponential(1) : value.toFixed(3)
}

function countOf({ input, output }: TokenCount): number {
  return input + output
}

/** Which roles the policy placed, and as what, at the beginning and now. */
function actions(updates: readonly UpdateRecord[], screen: Screen): string {
  const fifth = fifthOf(updates.length)
  const [early, late] = [placedUnits(updates.slice(0, fifth)), placedUnits(updates.slice(-fifth))]
  const arrow = screen.ascii ? '->' : '→'
  const mix = (title: string, parts: readonly (readonly [name: string, before: number, now: number])[]) => {
    const all = parts.reduce((sum, [, before]) => sum + before, 0)
    const width = Math.max(0, ...parts.map(([name]) => name.length))
    const labelled = parts.map(([name, before, now]) => ({
      label: `${name.padEnd(width)} ${percent(before / all).padStart(7)} ${arrow}`,
      amount: now,
    }))
    return actionsMix(title, labelled, screen)
  }
  const period = `first ${arrow} last ${counted(fifth, 'update')}`
  const roles = [...new Set([...late.roles.keys(), ...early.roles.keys()])]
    .map((role) => [role, early.roles.get(role) ?? 0, late.roles.get(role) ?? 0] as const)
    .toSorted((a, b) => b[2] - a[2] || b[1] - a[1])
  const sizes = [...new Set([...late.sizes.keys(), ...early.sizes.keys()])]
    .toSorted((a, b) => a - b)
    .map(
      (units) => [counted(units, 'unit'), early.sizes.get(units) ?? 0, late.sizes.get(units) ?? 0] as const,
    )
  return [
    mix(`Roles placed, ${period}`, roles),
    mix(`Placed as, ${period}`, [
      ['one agent', early.atomic, late.atomic],
      ['group', early.group, late.group],
    ]),
    mix(`Graphs with, ${period}`, sizes),
  ].join('\n')
}

function graphs(finals: readonly FinalGraph[], drawn: number, updates: number, screen: Screen): string {
  const all = finals.reduce((sum, { count }) => sum + count, 0)
  const columns = Math.min(100, screen.columns)
  const pictures = finals
    .slice(0, drawn)
    .flatMap(({ graph, count, score }) => [
      `${counted(count, 'time')} of ${all} (${percent(count / all)}), mean score ${score.toFixed(2)}`,
      '',
      drawGraph(graph, { columns, ascii: screen.ascii }).trimEnd(),
      '',
    ])
  const more = finals.length - Math.min(drawn, finals.length)
  const isVaried = finals.every(({ count }) => count === 1)
  const title = isVaried
    ? `Final graphs of the last ${counted(updates, 'update')}: ${all}, no two alike; the newest`
    : `Most common final graphs of the last ${counted(updates, 'update')}`
  return `${[screen.paint('bold', title), '', ...pictures].join('\n')}${more > 0 ? `and ${more} other graphs\n` : ''}`
}

/** The evaluations that a run keeps; of the same one made again the last. */
export function evaluationsText(
  evaluations: readonly KeptEvaluation[],
  record: RunRecord,
  screen: Screen,
): string {
  const heading = screen.paint('bold', 'Evaluations')
  if (evaluations.length === 0) return `\n${heading}\n\nnone yet: \`magic eval ${record.name}\` makes one\n`
  const bySplit = Map.groupBy(latestEvaluations(evaluations), ({ header }) => header.split)
  const tables = [...bySplit].map(([split, kept]) => {
    const labels = evaluationLabels(kept)
    const rows = kept.map(({ report, header }, position) => ({
      label: labels[position]!,
      report,
      isSimulated: isSimulatedModel(header.model),
    }))
    const note = rows.some(({ isSimulated }) => isSimulated) ? `${simulatedNote}\n` : ''
    const title = screen.paint('bold', `Evaluations on ${split} questions`)
    return `\n${title}\n\n${terminalTable(evaluationTable(rows, record.tasks.metric), screen)}\n${tableLegend}\n${note}`
  })
  return tables.join('')
}

function isSimulatedRun({ model }: RunRecord): boolean {
  return isSimulatedModel(`${model.provider}/${model.model}`)
}
