import type { Dice } from './dice.ts'
import { drawTable, type Measure, ranked, type StatisticsTable } from './statistics-table.ts'
import type { QuestionMaker } from './synthetic-question.ts'
import { capital, listed } from './wording.ts'

/** Writes a claim about the table that is as true or false as asked for. */
type ClaimShape = (dice: Dice, table: StatisticsTable, truth: boolean) => string | undefined

/** Claims about tables, each shape as often true as false. */
export const tableClaim: readonly QuestionMaker[] = [superlative, comparison, count, sum, ordering].flatMap(
  (shape) => [maker(shape, true), maker(shape, false)],
)

function maker(shape: ClaimShape, truth: boolean): QuestionMaker {
  return (dice) => {
    const table = drawTable(dice)
    const claim = shape(dice, table, truth)
    if (claim === undefined) return undefined
    const question = dice.pick([
      `The table gives figures for ${table.about}. Is the following claim about it true or false? “${capital(claim)}.”`,
      `According to a report, the table on ${table.about} shows that ${claim}. Does the table support this claim, true or false?`,
      `Check this claim against the table on ${table.about} and say whether it is true or false: ${claim}.`,
    ])
    return {
      task: { question, tables: [table.table] },
      reference: { kind: 'boolean', value: truth },
      solution: { answer: String(truth), wrong: [String(!truth)] },
    }
  }
}

function superlative(
  dice: Dice,
  { members, member, rows, measures }: StatisticsTable,
  truth: boolean,
): string {
  const measure = dice.pick(measures)
  const { verb, items } = measure
  const order = ranked(measure)
  const most = dice.pick([true, false])
  const fromTheEnd = most ? order : order.reverse()
  const named = rows[fromTheEnd[truth ? 0 : dice.integer(1, 2)]]
  return most
    ? dice.pick([
        `${named} ${verb} the most ${items} of all the ${members}`,
        `no other ${member} ${verb} as many ${items} as ${named}`,
      ])
    : dice.pick([
        `${named} ${verb} the fewest ${items} of all the ${members}`,
        `every other ${member} ${verb} more ${items} than ${named}`,
      ])
}

function comparison(dice: Dice, { rows, measures }: StatisticsTable, truth: boolean): string | undefined {
  const { verb, items, values } = dice.pick(measures)
  const [a, b] = dice.sample([...rows.keys()], 2)
  const difference = values[a] - values[b]
  if (Math.abs(difference) < 4) return undefined
  switch (dice.integer(1, 3)) {
    case 1: {
      const [more, fewer] = difference > 0 === truth ? [a, b] : [b, a]
      return `${rows[more]} ${verb} more ${items} than ${rows[fewer]}`
    }
    case 2: {
      const said = Math.abs(difference) + (truth ? 0 : dice.pick([-2, -1, 1, 2, 10]))
      return `${rows[a]} ${verb} ${said} ${difference > 0 ? 'more' : 'fewer'} ${items} than ${rows[b]}`
    }
    default: {
      const double = values[a] > 2 * values[b]
      if (double !== truth || values[a] < values[b]) return undefined
      return `${rows[a]} ${verb} more than twice as many ${items} as ${rows[b]}`
    }
  }
}

function count(dice: Dice, { members, rows, measures }: StatisticsTable, truth: boolean): string | undefined {
  const { verb, items, values } = dice.pick(measures)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const limit = dice.integer(low, high)
  const above = dice.pick([true, false])
  const matching = values.filter((value) => (above ? value > limit : value < limit)).length
  const said = truth ? matching : matching + dice.pick([-1, 1])
  if (said < 2 || said >= rows.length) return undefined
  return `exactly ${numerals[said]} ${members} ${verb} ${above ? 'more' : 'fewer'} than ${limit} ${items}`
}

const numerals = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']

function sum(dice: Dice, { members, rows, measures }: StatisticsTable, truth: boolean): string | undefined {
  const { verb, items, values } = dice.pick(measures)
  const places = dice.sample([...rows.keys()], dice.integer(2, 3))
  const part = total(values, places)
  const names = listed(places.map((place) => rows[place]))
  if (dice.pick([true, false])) {
    const all = values.reduce((a, b) => a + b, 0)
    if (2 * part > all !== truth || 2 * part === all) return undefined
    return `${names} together ${verb} more than half of all the ${items} that the ${members} in the table ${verb}`
  }
  const said = truth ? part : part + dice.pick([-10, -2, -1, 1, 2, 10])
  return `${names} together ${verb} ${said} ${items}`
}

function total(values: readonly number[], places: readonly number[]): number {
  return places.reduce((result, place) => result + values[place], 0)
}

function ordering(dice: Dice, { members, rows, measures }: StatisticsTable, truth: boolean): string {
  const measure = dice.pick(measures)
  const { items } = measure
  const order = ranked(measure)
  if (dice.pick([true, false])) return topThree(dice, order, rows, measure, members, truth)
  const place = dice.integer(0, rows.length - 2)
  const [before, after] = truth
    ? [order[place], order[place + 1]]
    : dice.pick([
        [order[place + 1], order[place]],
        [order[place], order[(place + 2) % rows.length]],
      ])
  return `if the ${members} are ordered from the most to the fewest ${items}, ${rows[after]} comes directly after ${rows[before]}`
}

function topThree(
  dice: Dice,
  order: readonly number[],
  rows: readonly string[],
  { verb, items }: Measure,
  members: string,
  truth: boolean,
): string {
  const [first, second, third, fourth] = order.map((place) => rows[place]) as [string, string, string, string]
  const named = truth
    ? [first, second, third]
    : dice.pick([
        [second, first, third],
        [first, third, second],
        [first, second, fourth],
      ])
  return `the three ${members} that ${verb} the most ${items} are, in this order, ${listed(named)}`
}
