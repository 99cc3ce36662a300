import { pairedBootstrap } from '../../src/evaluation/statistics.ts'
import { matchBudget } from '../../src/experiments/measures/matched-budget.ts'
import { seedMean } from '../../src/experiments/measures/seed-summary.ts'
import type { Cell } from './cells.ts'
import type { System } from './systems.ts'

type Cells = ReadonlyMap<number, Cell>

export interface Row extends System {
  /** By task set: the finished seeds. */
  readonly cells: readonly Cells[]
  /** By task set and seed: tokens of its training, if it learns. */
  readonly trainingTokens: readonly (readonly number[])[]
  /** By task set: edges that a fixed topology leaves out. */
  readonly missingEdges: readonly (number | undefined)[]
}

interface TableOptions {
  readonly sets: readonly string[]
  readonly seeds: readonly number[]
  readonly questions: number
  /** Whether cells may be missing. */
  readonly isPartial: boolean
}

/** Self-consistency rows shown in the table; the matched column uses all of them. */
const shownAnswers = [3, 5]

export function tableOf(rows: readonly Row[], { sets, seeds, questions, isPartial }: TableOptions): string {
  const settings = rows.filter(({ answers }) => answers !== undefined)
  const shown = rows.filter(
    ({ answers, cells }) =>
      (answers === undefined || shownAnswers.includes(answers)) && cells.some(({ size }) => size > 0),
  )
  const directRow = rows.find(({ name }) => name === 'direct')
  const head = [
    ...['system', 'category', 'fidelity'],
    ...sets.flatMap((tasks) => [
      ...[`${tasks} accuracy`, 'seeds', 'to direct [95 %]', 'tokens/q', 'calls/q', 'training tokens'],
      'self-consistency within its tokens: accuracy (k), difference from it [95 %]',
    ]),
  ]
  const lines = shown.map(({ name, category, fidelity, cells, missingEdges, trainingTokens }) => [
    ...[
      missingEdges[0] === undefined ? name : `${name}, ${missingEdges.join(' and ')} edges left out`,
      category,
      fidelity,
    ],
    ...cells.flatMap((own, set) => {
      if (own.size === 0) return ['–', '0', '–', '–', '–', '–', '–']
      const each = [...own.values()]
      return [
        scoreText(each),
        String(own.size),
        differenceText(own, directRow?.cells[set]) ?? '–',
        Math.round(meanTokens(own)).toLocaleString('en'),
        meanOf(each, ({ calls }) => calls).toFixed(1),
        trainingTokens[set]!.length === 0
          ? '–'
          : `${(meanOf(trainingTokens[set]!, (tokens) => tokens) / 1e6).toFixed(1)} M`,
        matchedText(
          own,
          settings.map(({ answers, cells: known }) => ({ answers: answers!, cells: known[set]! })),
        ),
      ]
    }),
  ])
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const short = rows
    .filter(({ cells }) => cells.some(({ size }) => size < seeds.length))
    .map(({ name }) => `\`${name}\``)
  const missing = short.length === 0 ? '' : ` Not done with all seeds: ${short.join(', ')}.`
  const about = `Simulated: no language model was called. ${questions} questions of each task set, ${questions * sets.length} in all; seeds ${seeds.join(', ')}. Made by \`npm run docs:organisations -- ${isPartial ? '--done ' : ''}--write\`.${missing}\n\n`
  return `${about}${row(head)}${row(head.map((_, place) => (place < 3 ? '---' : '--:')))}${lines.map(row).join('')}`
}

function scoreText(own: readonly Cell[]): string {
  const { mean, deviation } = seedMean(own.map(({ scores }) => 100 * meanOf(scores, (score) => score)))
  return deviation === null ? mean.toFixed(1) : `${mean.toFixed(1)} ± ${deviation.toFixed(1)}`
}

/** Paired by question: each question's mean difference over the seeds that both have. */
function differenceText(own: Cells, base: Cells | undefined): string | undefined {
  const shared = [...own.keys()].filter((seed) => base?.has(seed))
  if (base === undefined || own === base || shared.length === 0) return undefined
  const scoresOf = (cells: Cells) =>
    cells.get(shared[0]!)!.scores.map((_, place) => meanOf(shared, (seed) => cells.get(seed)!.scores[place]!))
  const { difference, low, high } = pairedBootstrap(scoresOf(own), scoresOf(base), { seed: 0 })
  const points = (value: number) => `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)}`
  return `${points(difference)} [${points(low)}, ${points(high)}]`
}

/** The largest k within a system's tokens. Undefined unless a more expensive k was measured too, since a larger one might fit. */
function matchedText(
  own: Cells,
  settings: readonly { readonly answers: number; readonly cells: Cells }[],
): string {
  const measured = settings
    .filter(({ cells }) => cells.size > 0)
    .map(({ answers: setting, cells }) => ({
      ...{ setting, cells, tokens: meanTokens(cells) },
      score: meanOf([...cells.values()], ({ scores }) => meanOf(scores, (score) => score)),
    }))
  const { within, above } = matchBudget(meanTokens(own), measured)
  const chosen = above === null ? undefined : measured.find(({ setting }) => setting === within)
  if (chosen === undefined || chosen.cells === own) return '–'
  const difference = differenceText(own, chosen.cells)
  return `${(100 * chosen.score).toFixed(1)} (k = ${chosen.setting}), ${difference ?? '–'}`
}

function meanTokens(cells: Cells): number {
  return meanOf([...cells.values()], ({ tokens }) => tokens)
}

function meanOf<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0) / items.length
}
