import { type Cost, type Price, publishedPrices } from '../../models/prices.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { TrainingSettings } from '../../settings/training.ts'
import type { Estimate, Range } from '../../training/estimate.ts'
import { tokens } from '../display/numbers.ts'
import { type Screen, shownText } from '../display/screen.ts'
import { terminalTable } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { costText } from './evaluation-table.ts'

interface ShownEstimate {
  readonly tasks: string
  readonly model: string
  readonly price: Price | undefined
  /** Whether the chosen model is the simulated one; lengths are simulated in any case. */
  readonly isSimulated: boolean
  readonly settings: TrainingSettings
  readonly caps: BudgetSettings
  readonly figures: Estimate
}

const edges = ['low', 'expected', 'high'] as const

export function estimateText(shown: ShownEstimate, screen: Screen): string {
  const { tasks, figures, settings, isSimulated } = shown
  const { calls, inputTokens, outputTokens, cost, updates, sampled, perQuestion } = figures
  const counts = (name: string, range: Range) => [name, ...edges.map((edge) => tokens(range[edge]))]
  const table = terminalTable(
    {
      columns: [{ header: '' }, ...edges.map((header) => ({ header, kind: 'number' as const }))],
      rows: [
        counts('calls', calls),
        counts('tokens in', inputTokens),
        counts('tokens out', outputTokens),
        ['cost', ...edges.map((edge) => costText(cost[edge], isSimulated))],
      ],
    },
    screen,
  )
  const { calls: each, tokens: size, cost: share } = perQuestion
  const lines = [
    `A question answered by the untrained policy takes ${each.toFixed(1)} calls, ${tokens(size)} tokens, ${costText(share, isSimulated)}.`,
    ...priceLines(shown),
    ...capLines(shown),
    `Lengths are simulated: ${counted(sampled, 'update')} of ${updates} ran on the simulated model.`,
    'A model that writes more costs more.',
  ]
  const { trajectories, probes } = settings
  const heading = `Training on ${tasks}: ${counted(updates, 'update')}, each with ${trajectories} graphs and up to ${probes} probes`
  return [
    screen.paint('bold', shownText(heading, screen)),
    '',
    table,
    ...lines.map((line) => shownText(line, screen)),
    '',
  ].join('\n')
}

function priceLines({ model, price, isSimulated }: ShownEstimate): string[] {
  const known = Object.keys(publishedPrices)
  if (price !== undefined) {
    const { input, cachedInput, output, currency, asOf, peak } = price
    const dearer =
      peak === undefined ? '' : `; ${peak.factor} times that in peak hours; shown as of this hour`
    return [
      `Price of ${model} as of ${asOf}, in ${currency} per million tokens:`,
      `${input} in, ${cachedInput} cached, ${output} out${dearer}.`,
    ]
  }
  return isSimulated
    ? [`The simulated model is free; --price ${known[0]} tells what another would cost.`]
    : [
        `There is no price for ${model}. Give one under model.prices in magic.config.ts,`,
        `or take another with --price: ${known.join(', ')}.`,
      ]
}

/** Whether the caps would stop the run. */
function capLines({ caps, figures }: ShownEstimate): string[] {
  const { calls, inputTokens, outputTokens, cost } = figures
  const amount = (given: Cost) => (given === 'unpriced' ? undefined : given.amount)
  const needs = (edge: keyof Range) => ({
    cost: amount(cost[edge]),
    tokens: inputTokens[edge] + outputTokens[edge],
    calls: calls[edge],
  })
  const [expected, high] = [needs('expected'), needs('high')]
  return (['cost', 'tokens', 'calls'] as const).flatMap((cap) => {
    const limit = caps[cap]
    const [usual, most] = [expected[cap], high[cap]]
    if (limit === undefined || usual === undefined || most === undefined) return []
    const verdict =
      limit >= most ? 'is enough' : limit >= usual ? 'may be reached' : 'will probably be reached'
    return [`The cap --max-${cap} ${limit} ${verdict}.`]
  })
}
