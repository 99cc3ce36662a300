import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import {
  evaluationLabels,
  type KeptEvaluation,
  latestEvaluations,
} from '../../evaluation/compare-evaluations.ts'
import {
  type FinalGraph,
  fifthOf,
  placedUnits,
  type RunOverview,
  ranGraphs,
  sameQuestions,
} from '../../evaluation/run-overview.ts'
import { meanOf } from '../../evaluation/statistics.ts'
import type { Worth } from '../../evaluation/worth.ts'
import { tokensIn } from '../../models/usage.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import type { RunRecord } from '../../store/run-folder.ts'
import type { UpdateRecord } from '../../training/update-record.ts'
import { duration, percent, tokens } from '../display/numbers.ts'
import { factLines, graphLines, type Lines, type Screen, shownText } from '../display/screen.ts'
import { movingMean, sparkline } from '../display/series.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { costText, evaluationLines } from './evaluation-table.ts'
import { runWord } from './training-summary.ts'
import { worthSentence } from './worth-sentence.ts'

/** Curves are means over this many updates, because single updates jump between right and wrong. */
const smoothing = 10

export interface ShownRun {
  readonly folder: string
  readonly overview: RunOverview
  readonly graphs: readonly FinalGraph[]
  readonly evaluations: readonly KeptEvaluation[]
  readonly worth?: Worth
}

/** A run on one page. */
export function runLines(run: ShownRun, graphsToDraw: number, screen: Screen): Lines {
  const { updates, record } = run.overview
  return [
    screen.paint('bold', shownText(`Run ${record.name}`)),
    factLines(facts(run), screen, '  '),
    updates.length > 0 && [curves(updates, screen), actions(updates, screen)],
    run.graphs.length > 0 && finalGraphs(run, graphsToDraw, screen),
    evaluations(run, screen),
    enough(updates),
    worth(run),
  ]
}

/** How the score on left-out training questions grows with the number of questions learned from. */
function enough(updates: readonly UpdateRecord[]): Lines {
  const curve = updates.at(-1)?.curve ?? []
  if (curve.length === 0) return false
  const points = curve.map(({ questions, score }) => `${questions}: ${percent(score)}`).join(', ')
  const text = `Would fewer questions be enough? Score on left-out training questions, by the number learned from: ${points}.`
  return ['', text]
}

/** One sentence on whether training was worth it, or how to find out. */
function worth({ worth: known, overview: { record, isFinished } }: ShownRun): Lines {
  if (known !== undefined) return ['', worthSentence(known)]
  const name = shownText(record.name)
  const command = `\`magic eval ${name} --organisation trained,searched\``
  return isFinished && ['', `Was training worth it? Find out with ${command}.`]
}

function facts({ folder, overview }: ShownRun): [name: string, text: string][] {
  const { record, updates } = overview
  const { tasks, model, encoder, profile, version, createdAt } = record
  const splits = Object.entries(tasks.splits).map(([name, split]) => `${split.tasks} ${name}`)
  const answering = `${model.provider}/${model.model}`
  const isSimulated = isSimulatedModel(answering)
  const isPaperEncoder = encoder.name !== lexicalEncoder.name
  return [
    ['tasks', `${tasks.title} (${tasks.name}), ${splits.join(', ')}, ${tasks.metric}`],
    ['model', `${answering}${isSimulated ? ': all scores are simulated' : ''}`],
    ['roles', `${profile.roles.length}, tools ${profile.tools.join(', ') || 'none'}`],
    ['encoder', `${encoder.name}${isPaperEncoder ? '' : " (the paper's is MiniLM)"}`],
    organisationText(record) ?? ['settings', settingsText(overview)],
    ['budget', budgetText(record)],
    ['spent', spentText(overview, isSimulated)],
    ['speed', updates.length === 0 ? '' : speedText(overview)],
    ['started', `${createdAt.replace('T', ' ').slice(0, 16)} UTC, version ${version}`],
    ['state', stateText(overview, runWord(folder))],
  ]
}

function organisationText({ organisation }: RunRecord): [name: string, text: string] | undefined {
  if (organisation === undefined) return undefined
  const options = Object.entries(organisation.options).map(
    ([name, value]) => `${name} ${JSON.stringify(value)}`,
  )
  return ['trains', `${organisation.name}: ${options.join(', ')}`]
}

function settingsText({ departures }: RunOverview): string {
  if (departures.length === 0) return "the paper's"
  const shown = (value: unknown) => (value === undefined ? 'unset' : JSON.stringify(value))
  const parts = departures.map(
    ({ name, values: [paper, own] }) => `${name} ${shown(own)} (paper: ${shown(paper)})`,
  )
  return `the paper's, except ${parts.join(', ')}`
}

function budgetText({ budget: { cost, ...rest } }: RunRecord): string {
  const caps = Object.entries({ money: cost, ...rest }).filter(([, cap]) => cap !== undefined)
  return caps.length === 0 ? 'no cap' : `at most ${caps.map(([unit, cap]) => `${cap} ${unit}`).join(', ')}`
}

function spentText({ updates, made, reused }: RunOverview, isSimulated: boolean): string {
  const spent = updates.at(-1)?.spent
  if (spent === undefined) return 'nothing yet'
  const saved = tokensIn(reused)
  const retries = updates.reduce((sum, { retries = 0 }) => sum + retries, 0)
  return [
    `${tokens(tokensIn(spent))} tokens in ${counted(spent.calls, 'call')}${retries > 0 ? ` and ${counted(retries, 'retry', 'retries')}` : ''}`,
    `${tokens(saved)} more reused (${percent(saved / (saved + tokensIn(made)))})`,
    costText(spent.cost, isSimulated),
    duration(spent.minutes * 60_000),
  ].join(', ')
}

function speedText({ updates, record }: RunOverview): string {
  const wall = meanOf(updates.map(({ wallMs }) => wallMs))
  const bound = meanOf(updates.map(({ boundMs }) => boundMs))
  const ratio = bound > 0 ? `, ${(wall / bound).toFixed(2)}× the minimum` : ''
  return `${duration(wall)} per update${ratio} at ${counted(record.concurrency, 'concurrent call')}`
}

function stateText({ record, done, isFinished, updates }: RunOverview, run: string): string {
  const count = `${done} of ${counted(record.updates, 'update')}`
  if (isFinished) return `finished, ${count}; next: \`magic eval ${run}\``
  const last = updates.at(-1)
  const when = last === undefined ? '' : `, the last ${duration(Date.now() - Date.parse(last.at))} ago`
  return `${count}${when}; if it is not running: \`magic resume ${run}\``
}

type Curve = readonly [name: string, values: number[], shown: (value: number) => string]

/** Learning curves with their first and last values. Scores are on training questions. */
function curves(updates: readonly UpdateRecord[], screen: Screen): Lines {
  const window = Math.min(smoothing, Math.max(1, Math.floor(updates.length / 3)))
  const suffix = window > 1 ? ` (mean of ${window} updates)` : ''
  const series = (read: (update: UpdateRecord) => number) => movingMean(updates.map(read), window)
  const scores = updates.filter(ranGraphs).map(({ score }) => score)
  const returns = updates
    .filter((update) => update.returns.length > 0)
    .map((update) => meanOf(update.returns.map(([first = 0]) => first)))
  const ofPolicies: Curve[] =
    returns.length === 0
      ? []
      : [
          ['return', movingMean(returns, window), fixed],
          ['entropy', series(({ loss }) => loss.entropy), fixed],
          ['KL', series(({ loss }) => loss.divergence), fixed],
        ]
  const small: Curve[] = [
    ['training score', movingMean(scores, window), fixed],
    ...ofPolicies,
    ['loss', series(({ loss }) => loss.total), fixed],
    ['tokens made', series(({ made }) => tokensIn(made)), tokens],
    ['tokens reused', series(({ reused }) => tokensIn(reused)), tokens],
  ]
  const columns = [`Per update${suffix}`, 'first', 'last', '']
  const rows = small
    .filter(([, values]) => values.length > 0)
    .map(([name, values, shown]) => {
      return [name, shown(values[0]!), shown(values.at(-1)!), sparkline(values, 50)]
    })
  const same = sameQuestions(updates)
  const compared =
    same === undefined
      ? updates.every(({ query }) => query === undefined)
        ? 'Each update tries many graphs on many questions, different ones each time; its score is their mean.'
        : 'No question came up twice yet, so early and late scores are on different questions.'
      : `Score on the ${counted(same.questions, 'question')} that came up more than once: ${fixed(same.first)} the first time, ${fixed(same.last)} the last time.`
  return ['', tableLines({ columns, rows, texts: [0, 3] }, screen), '', compared]
}

function fixed(value: number): string {
  // Rounding errors around zero show as zero.
  const isSmall = Math.abs(value) < 0.001 && Math.abs(value) > 1e-9
  return isSmall ? value.toExponential(1) : value.toFixed(3)
}

/** Roles, realizations and graph sizes in the first and the last updates. */
function actions(updates: readonly UpdateRecord[], screen: Screen): Lines {
  const fifth = fifthOf(updates.length)
  const period = updatesText(fifth)
  const [early, late] = [placedUnits(updates.slice(0, fifth)), placedUnits(updates.slice(-fifth))]
  const table = (title: string, counts: (placed: typeof late) => ReadonlyMap<string, number>) => {
    const [before, now] = [sharesOf(counts(early)), sharesOf(counts(late))]
    const rows = [...new Set([...now.keys(), ...before.keys()])]
      .map((name) => ({ name, before: before.get(name) ?? 0, now: now.get(name) ?? 0 }))
      .toSorted((a, b) => b.now - a.now || b.before - a.before)
      .map((share) => [share.name, percent(share.before), percent(share.now)])
    const columns = [title, `first ${period}`, `last ${period}`]
    return ['', tableLines({ columns, rows }, screen)]
  }
  return [
    table('Role', ({ roles }) => roles),
    table('Used as', ({ atomic, group }) => new Map(Object.entries({ 'one agent': atomic, group }))),
    table('Graph size', ({ sizes }) => new Map([...sizes].map(([size, n]) => [counted(size, 'unit'), n]))),
  ]
}

/** For `the last update` and `the last 2 updates`. */
function updatesText(count: number): string {
  return count === 1 ? 'update' : counted(count, 'update')
}

function sharesOf(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sum = [...counts.values()].reduce((a, b) => a + b, 0)
  return new Map([...counts].map(([name, count]) => [name, count / sum]))
}

function finalGraphs({ graphs, overview }: ShownRun, shown: number, screen: Screen): Lines {
  const all = graphs.reduce((sum, { count }) => sum + count, 0)
  const period = `the last ${updatesText(fifthOf(overview.updates.length))}`
  const title = graphs.every(({ count }) => count === 1)
    ? `Final graphs of ${period} (${all}, all different; newest first)`
    : `Most common final graphs of ${period}`
  const more = graphs.length - shown
  return [
    '',
    screen.paint('bold', title),
    graphs
      .slice(0, shown)
      .map(({ graph, count, score }) => [
        '',
        `${count} of ${all} (${percent(count / all)}), ${Number.isNaN(score) ? 'not evaluated yet' : `mean score ${score.toFixed(2)}`}`,
        '',
        graphLines(graph, screen),
      ]),
    more > 0 && ['', `and ${counted(more, 'other graph')}`],
  ]
}

/** A run's evaluations; if one was repeated, the latest. */
function evaluations({ evaluations: kept, overview: { record } }: ShownRun, screen: Screen): Lines {
  if (kept.length === 0)
    return [
      '',
      screen.paint('bold', 'Evaluations'),
      `none yet; next: \`magic eval ${shownText(record.name)}\``,
    ]
  const bySplit = Map.groupBy(latestEvaluations(kept), ({ header }) => header.split)
  return [...bySplit].map(([split, evaluated]) => {
    const labels = evaluationLabels(evaluated)
    const rows = evaluated.map(({ report, header }, position) => ({
      label: labels[position]!,
      report,
      isSimulated: isSimulatedModel(header.model),
    }))
    const title = screen.paint('bold', shownText(`Evaluations on ${split} questions`))
    return ['', title, '', evaluationLines(rows, record.tasks.metric, screen)]
  })
}
