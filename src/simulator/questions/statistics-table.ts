import type { Table } from '../../library/task.ts'
import type { Dice } from './dice.ts'
import { cells, entries } from './wording.ts'
import { world } from './world-facts.ts'

/** A made-up table of counts: who did how many of what, in one year. */
export interface StatisticsTable {
  readonly table: Table
  /** Describes the table within a sentence, such as `the cafés of Ashford in 2014`. */
  readonly about: string
  /** What the rows are, in plural and singular. */
  readonly members: string
  readonly member: string
  readonly rows: readonly string[]
  readonly measures: readonly Measure[]
}

/** One column: `sold` `teas`. No two rows have the same value. */
export interface Measure {
  /** The past form, which is also the participle in the column's heading. */
  readonly verb: string
  readonly infinitive: string
  readonly items: string
  readonly item: string
  readonly values: readonly number[]
}

export function drawTable(dice: Dice): StatisticsTable {
  const { members, member, names, named, measures, largest } = dice.pick(world.tables)
  const rows = dice.sample(entries(names), dice.integer(5, 9)).map((name) => named.replace('*', name))
  const columns = dice.sample(cells(measures), 3).map(([infinitive, verb, items, item]) => ({
    infinitive,
    verb,
    items,
    item,
    values: dice.different(rows.length, Math.ceil(largest / 20), largest),
  }))
  const about = `the ${members} of ${dice.pick(world.towns)} in ${dice.integer(1990, 2023)}`
  return {
    about,
    members,
    member,
    rows,
    measures: columns,
    table: {
      name: members
        .replaceAll(' ', '_')
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, ''),
      caption: `Figures for ${about}`,
      header: [member, ...columns.map(({ verb, items }) => `${items} ${verb}`)],
      rows: rows.map((row, index) => [
        row.replace(/^the /, ''),
        ...columns.map(({ values }) => String(values[index])),
      ]),
    },
  }
}

/** The rows of a column from the most to the fewest. */
export function ranked({ values }: Measure): number[] {
  return [...values.keys()].sort((a, b) => values[b] - values[a])
}

export function total(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0)
}
