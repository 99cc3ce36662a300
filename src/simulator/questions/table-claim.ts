import type { Dice } from './dice.ts'
import { drawTable, ranked, type StatisticsTable, total } from './statistics-table.ts'
import type { QuestionMaker } from './synthetic-question.ts'
import { listed } from './wording.ts'
import { worded } from './world-facts.ts'

/** Writes a claim about the table that is true or false, as requested. */
type ClaimShape = (dice: Dice, table: StatisticsTable, truth: boolean) => string | undefined

const numerals = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']

const shapes: Readonly<Record<string, ClaimShape>> = {
  superlative(dice, { members, member, rows, measures }, truth) {
    const measure = dice.pick(measures)
    const { verb, items } = measure
    const order = ranked(measure)
    const most = dice.pick([true, false])
    const fromTheEnd = most ? order : order.reverse()
    const named = rows[fromTheEnd[truth ? 0 : dice.integer(1, 2)]]
    return worded(dice, most ? 'most' : 'fewest', { named, verb, items, members, member })
  },
  comparison(dice, { rows, measures }, truth) {
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
  },
  count(dice, { members, rows, measures }, truth) {
    const { verb, items, values } = dice.pick(measures)
    const [low, high] = [Math.min(...values), Math.max(...values)]
    const limit = dice.integer(low, high)
    const above = dice.pick([true, false])
    const matching = values.filter((value) => (above ? value > limit : value < limit)).length
    const said = truth ? matching : matching + dice.pick([-1, 1])
    if (said < 2 || said >= rows.length) return undefined
    return `exactly ${numerals[said]} ${members} ${verb} ${above ? 'more' : 'fewer'} than ${limit} ${items}`
  },
  sum(dice, { members, rows, measures }, truth) {
    const { verb, items, values } = dice.pick(measures)
    const places = dice.sample([...rows.keys()], dice.integer(2, 3))
    const part = total(places.map((place) => values[place]))
    const names = listed(places.map((place) => rows[place]))
    if (dice.pick([true, false])) {
      const half = total(values) / 2
      if (part > half !== truth || part === half) return undefined
      return `${names} together ${verb} more than half of all the ${items} that the ${members} in the table ${verb}`
    }
    const said = truth ? part : part + dice.pick([-10, -2, -1, 1, 2, 10])
    return `${names} together ${verb} ${said} ${items}`
  },
  ordering(dice, { members, rows, measures }, truth) {
    const measure = dice.pick(measures)
    const { verb, items } = measure
    const order = ranked(measure).map((place) => rows[place])
    if (dice.pick([true, false])) {
      const [first, second, third, fourth] = order
      const swapped = [
        [second, first, third],
        [first, third, second],
        [first, second, fourth],
      ]
      const named = truth ? [first, second, third] : dice.pick(swapped)
      return `the three ${members} that ${verb} the most ${items} are, in this order, ${listed(named)}`
    }
    const place = dice.integer(0, rows.length - 2)
    const [here, next, later] = [order[place], order[place + 1], order[(place + 2) % rows.length]]
    const wrong = [
      [next, here],
      [here, later],
    ]
    const [before, after] = truth ? [here, next] : dice.pick(wrong)
    return `if the ${members} are ordered from the most to the fewest ${items}, ${after} comes directly after ${before}`
  },
}

/** Claims about tables, each shape as often true as false. */
export const tableClaimQuestions: readonly QuestionMaker[] = Object.values(shapes).flatMap((shape) =>
  [true, false].map((truth) => (dice: Dice) => {
    const table = drawTable(dice)
    const claim = shape(dice, table, truth)
    if (claim === undefined) return undefined
    const question = worded(dice, 'claim', { about: table.about, claim })
    return {
      task: { question, tables: [table.table] },
      reference: { kind: 'boolean', value: truth },
      solution: { answer: String(truth), wrong: [String(!truth)] },
    }
  }),
)
