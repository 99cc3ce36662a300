import type { MatchedRow, MatchedSetting } from '../../experiments/measures/matched-tokens.ts'
import { differenceWithInterval, percent, tokens } from '../display/numbers.ts'
import type { ShownTable } from '../display/table.ts'

export function matchedTable(rows: readonly MatchedRow[]): ShownTable {
  const setting = (one: MatchedSetting | undefined) =>
    one === undefined ? ['–', '–'] : [`${percent(one.score)} (k = ${one.answers})`, tokens(one.tokens)]
  return {
    columns: [
      ...['organisation', 'tokens/q', 'self-consistency within', 'tokens/q'],
      ...['difference [95 %]', 'above', 'tokens/q'],
    ],
    rows: rows.map(({ organisation, tokens: own, within, above, against }) => [
      ...[organisation, tokens(own), ...setting(within)],
      ...[
        against === undefined ? '–' : differenceWithInterval({ ...against, mean: against.difference }),
        ...setting(above),
      ],
    ]),
  }
}
