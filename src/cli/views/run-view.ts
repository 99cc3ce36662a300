import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import {
  evaluationLabels,
  type KeptEvaluation,
  latestEvaluations,
} from '../../evaluation/compare-evaluations.ts'
import type { DifferingSetting } from '../../evaluation/differing-settings.ts'
import { type FinalGraph, fifthOf, placedUnits, type RunOverview } from '../../evaluation/run-overview.ts'
import { meanOf } from '../../evaluation/statistics.ts'
import type { RunFolder, RunRecord } from '../../store/run-folder.ts'
import type { TokenCount, UpdateRecord } from '../../training/update-record.ts'
import { drawChart } from '../display/chart.ts'
import { graphDrawing } from '../display/graph-drawing.ts'
import { duration, percent, tokens } from '../display/numbers.ts'
import { drawn, factLines, type Screen, shownText, wrapText } from '../display/screen.ts'
import { movingMean, sparkline } from '../display/series.ts'
import { shareBars } from '../display/shares.ts'
import { terminalTable } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import {
  costText,
  evaluationTable,
  isSimulatedModel,
  simulatedNote,
  tableLegend,
} from './evaluation-table.ts'
import { runWord } from './training-summary.ts'

/** Curves are means of this many updates: single ones jump between right and wrong. */
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
  const sections = [facts(overview, folder, screen)]
  if (updates.length > 0) sections.push(curves(updates, screen), actions(updates, screen))
  if (finals.length > 0) sections.push(graphs(finals, graphsToDraw, fifthOf(updates.length), screen))
  return sections.join('\n')
}

function facts(overview: RunOverview, folder: RunFolder, screen: Screen): string {
  const { record, departures, updates } = overview
  const { tasks, model, encoder, profile, concurrency, version, createdAt } = record
  const splits = Object.entries(tasks.splits).map(([name, split]) => `${split.tasks} ${name}`)
  const isSimulated = isSimulatedRun(record)
  const isPaperEncoder = encoder.name !== lexicalEncoder.name
  const lines: [name: string, text: string][] = [
    ['tasks', `${tasks.title} (${tasks.name}), ${splits.join(', ')}, ${tasks.metric}`],
    ['model', `${model.provider}/${model.model}${isSimulated ? ': all scores are simulated' : ''}`],
    ['roles', `${profile.roles.length}, tools ${profile.tools.join(', ') || 'none'}`],
    ['encoder', `${encoder.name}${isPaperEncoder ? '' : " (the paper's is MiniLM)"}`],
    ['settings', settingsText(departures)],
    ['budget', budgetText(record)],
    ['spent', spentText(overview, isSimulated)],
    ['started', `${createdAt.replace('T', ' ').slice(0, 16)} UTC, version ${version}`],
    ['state', stateText(overview, folder)],
  ]
  if (updates.length > 0) lines.splice(7, 0, ['speed', speedText(updates, concurrency)])
  const heading = screen.paint('bold', shownText(`Run ${record.name}`, screen))
  return `${[heading, ...factLines(lines, screen, '  ')].join('\n')}\n`
}

function settingsText(departures: readonly DifferingSetting[]): string {
  if (departures.length === 0) return "the paper's"
  const shown = (value: unknown) => (value === undefined ? 'unset' : JSON.stringify(value))
  const parts = departures.map(
    ({ name, values: [paper, own] }) => `${name} ${shown(own)} (paper: ${shown(paper)})`,
  )
  return `the paper's except ${parts.join(', ')}`
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
  const saved = countOf(reused)
  return [
    `${tokens(countOf(spent))} tokens in ${counted(spent.calls, 'call')}`,
    `${tokens(saved)} more reused (${percent(saved / (saved + countOf(made)))})`,
    costText(spent.cost, isSimulated),
    duration(spent.minutes * 60_000),
  ].join(', ')
}

function speedText(updates: readonly UpdateRecord[], concurrency: number): string {
  const wall = meanOf(updates.map(({ wallMs }) => wallMs))
  const bound = meanOf(updates.map(({ boundMs }) => boundMs))
  const ratio = bound > 0 ? `, ${(wall / bound).toFixed(2)}× the minimum` : ''
  return `${duration(wall)} per update${ratio} at ${counted(concurrency, 'concurrent call')}`
}

function stateText({ record, done, isFinished, updates }: RunOverview, folder: RunFolder): string {
  const run = runWord(folder.path)
  const count = `${done} of ${counted(record.updates, 'update')}`
  if (isFinished) return `finished, ${count}; next: \`magic eval ${run}\``
  const last = updates.at(-1)
  const when = last === undefined ? '' : `, the last ${duration(Date.now() - Date.parse(last.at))} ago`
  return `${count}${when}; if no process is training it: \`magic resume ${run}\``
}

/** The score as a chart, and what belongs to it as small curves with their first and last values. */
function curves(updates: readonly UpdateRecord[], screen: Screen): string {
  const window = Math.min(smoothing, Math.max(1, Math.floor(updates.length / 3)))
  const suffix = window > 1 ? ` (mean of ${window} updates)` : ''
  const series = (read: (update: UpdateRecord) => number) => movingMean(updates.map(read), window)
  const chart = drawChart(
    {
      title: `Score on training questions${suffix}`,
      values: series(({ score }) => score),
      range: [0, 1],
      x: { label: 'update', first: window },
      format: (value) => value.toFixed(2),
    },
    screen,
  )
  const small: [string, number[], (value: number) => string][] = [
    ['return', series(({ returns }) => meanOf(returns.map(([first = 0]) => first))), fixed],
    ['entropy', series(({ loss }) => loss.entropy), fixed],
    ['KL', series(({ loss }) => loss.divergence), fixed],
    ['loss', series(({ loss }) => loss.total), fixed],
    ['tokens made', series(({ made }) => countOf(made)), tokens],
    ['tokens reused', series(({ reused }) => countOf(reused)), tokens],
  ]
  const courses = small.map(([, values, shown]) => `${shown(values[0]!)} → ${shown(values.at(-1)!)}`)
  const width = Math.max(...courses.map((course) => course.length))
  const room = Math.max(1, Math.min(60, screen.columns - width - 20))
  const lines = small.map(([name, values], index) => {
    const curve = screen.paint('cyan', sparkline(values, room))
    return `  ${name.padEnd(13)}  ${drawn(courses[index]!.padEnd(width), screen)}  ${curve}\n`
  })
  return `${chart}\n${screen.paint('bold', `Per update${suffix}`)}\n${lines.join('')}`
}

function fixed(value: number): string {
  // What rounding leaves of nothing is nothing.
  const isSmall = Math.abs(value) < 0.001 && Math.abs(value) > 1e-9
  return isSmall ? value.toExponential(1) : value.toFixed(3)
}

function countOf({ input, output }: Pick<TokenCount, 'input' | 'output'>): number {
  return input + output
}

/** Which roles the policy placed, and as what, in its first updates and its last. */
function actions(updates: readonly UpdateRecord[], screen: Screen): string {
  const fifth = fifthOf(updates.length)
  const [early, late] = [placedUnits(updates.slice(0, fifth)), placedUnits(updates.slice(-fifth))]
  const parts = <Key>(before: ReadonlyMap<Key, number>, now: ReadonlyMap<Key, number>) =>
    [...new Set([...now.keys(), ...before.keys()])].map((key) => ({
      key,
      before: before.get(key) ?? 0,
      now: now.get(key) ?? 0,
    }))
  const roles = parts(early.roles, late.roles).toSorted((a, b) => b.now - a.now || b.before - a.before)
  const sizes = parts(early.sizes, late.sizes).toSorted((a, b) => a.key - b.key)
  const realizations = [
    { label: 'one agent', before: early.atomic, now: late.atomic },
    { label: 'group', before: early.group, now: late.group },
  ]
  const period = `first → last ${counted(fifth, 'update')}`
  return [
    shareBars(
      `Roles placed, ${period}`,
      roles.map(({ key, ...share }) => ({ ...share, label: key })),
      screen,
    ),
    shareBars(`Placed as, ${period}`, realizations, screen),
    shareBars(
      `Graphs with, ${period}`,
      sizes.map(({ key, ...share }) => ({ ...share, label: counted(key, 'unit') })),
      screen,
    ),
  ].join('\n')
}

function graphs(finals: readonly FinalGraph[], shown: number, updates: number, screen: Screen): string {
  const all = finals.reduce((sum, { count }) => sum + count, 0)
  const pictures = finals
    .slice(0, shown)
    .flatMap(({ graph, count, score }) => [
      `${counted(count, 'time')} of ${all} (${percent(count / all)}), mean score ${score.toFixed(2)}`,
      '',
      graphDrawing(graph, screen),
      '',
    ])
  const more = Math.max(0, finals.length - shown)
  const period = `the last ${counted(updates, 'update')}`
  const title = finals.every(({ count }) => count === 1)
    ? `Final graphs of ${period}: ${all}, no two alike; the newest`
    : `Most common final graphs of ${period}`
  const heading = screen.paint('bold', wrapText(title, screen))
  return `${[heading, '', ...pictures].join('\n')}${more > 0 ? `and ${counted(more, 'other graph')}\n` : ''}`
}

/** The evaluations that a run keeps; of the same one made again, the last. */
export function evaluationsText(
  evaluations: readonly KeptEvaluation[],
  record: RunRecord,
  screen: Screen,
): string {
  const heading = screen.paint('bold', 'Evaluations')
  if (evaluations.length === 0)
    return `\n${heading}\n\nnone yet; next: \`magic eval ${shownText(record.name, screen)}\`\n`
  const bySplit = Map.groupBy(latestEvaluations(evaluations), ({ header }) => header.split)
  const tables = [...bySplit].map(([split, kept]) => {
    const labels = evaluationLabels(kept)
    const rows = kept.map(({ report, header }, position) => ({
      label: labels[position]!,
      report,
      isSimulated: isSimulatedModel(header.model),
    }))
    const title = screen.paint('bold', shownText(`Evaluations on ${split} questions`, screen))
    const notes = rows.some(({ isSimulated }) => isSimulated) ? [tableLegend, simulatedNote] : [tableLegend]
    const table = terminalTable(evaluationTable(rows, record.tasks.metric), screen)
    return `\n${title}\n\n${table}\n${wrapText(notes.join('\n'), screen)}\n`
  })
  return tables.join('')
}

function isSimulatedRun({ model }: RunRecord): boolean {
  return isSimulatedModel(`${model.provider}/${model.model}`)
}
