import type { Dice } from './dice.ts'
import { drawTable, type Measure, ranked, type StatisticsTable, total } from './statistics-table.ts'
import { type Calculation, numberQuestion, type QuestionMaker } from './synthetic-question.ts'
import { listed } from './wording.ts'
import { worded } from './world-facts.ts'

const exercises: Readonly<Record<string, (dice: Dice, table: StatisticsTable) => Calculation>> = {
  spread(dice, { member, rows, measures }) {
    const measure = dice.pick(measures)
    const { values } = measure
    const order = ranked(measure)
    const [most, second, fewest] = [values[order[0]], values[order[1]], Math.min(...values)]
    const named = order[dice.integer(1, rows.length - 2)]
    const [own, last] = [values[named], values[rows.length - 1]]
    const text = (key: string) => worded(dice, key, { ...measure, member, named: rows[named] })
    return dice.pick<Calculation>([
      [text('ends'), most - fewest, second - fewest, most - last, most + fewest],
      [text('lag'), most - own, second - own, most - fewest, own - fewest],
    ])
  },
  points(dice, { rows, measures }) {
    const [first, second] = dice.sample(measures, 2)
    const [many, few] = dice.different(2, 2, 9)
    const [a, b] = dice.sample([...rows.keys()], 2)
    const score = (row: number) => many * first.values[row] + few * second.values[row]
    const [firsts, seconds] = [first, second].map(({ values }) => values[a] + values[b])
    const said = { many, few, first: first.item, second: second.item, a: rows[a], b: rows[b] }
    const swapped = few * firsts + many * seconds
    return [worded(dice, 'points', said), score(a) + score(b), swapped, score(a), score(b), many * firsts]
  },
  mean(dice, { members, member, rows, measures }) {
    const measure = dice.pick(measures)
    const { values } = measure
    const left = dice.integer(0, rows.length - 1)
    const others = values.filter((_, row) => row !== left)
    const [all, rest] = [total(values), total(others)]
    const [average, without] = [all / rows.length, rest / others.length]
    const text = (key: string) => worded(dice, key, { ...measure, members, member, left: rows[left] })
    return dice.pick<Calculation>([
      [text('mean'), rounded(average), Math.floor(all / others.length), Math.round(without), all],
      [text('meanWithout'), rounded(without), Math.round(average), Math.round(rest / rows.length), rest],
    ])
  },
  share(dice, { members, rows, measures }) {
    const measure = dice.pick(measures)
    const { values } = measure
    const [a, b] = dice.sample([...rows.keys()], 2)
    const [all, most, both] = [total(values), Math.max(...values), values[a] + values[b]]
    const percent = (part: number, whole: number) => (100 * part) / whole
    const [own, other] = [a, b].map((row) => Math.round(percent(values[row], all)))
    const beside = (part: number) => Math.round(percent(part, all - part))
    const pair = listed([rows[a], rows[b]])
    const text = (key: string) => worded(dice, key, { ...measure, members, a: rows[a], pair })
    const ofMost = Math.round(percent(values[a], most))
    return dice.pick<Calculation>([
      [text('share'), rounded(percent(values[a], all)), beside(values[a]), ofMost, other],
      [text('shareOfTwo'), rounded(percent(both, all)), own, other, beside(both)],
    ])
  },
  leaders(dice, { members, measures }) {
    const [by, of] = dice.sample(measures, 2)
    const count = dice.pick([2, 3])
    const order = ranked(by)
    const first = order.slice(0, count)
    const sumOf = ({ values }: Measure, rows: readonly number[]) => total(rows.map((row) => values[row]))
    const said = { ...of, members, number: count === 2 ? 'two' : 'three', did: by.verb, things: by.items }
    const slips = [sumOf(of, ranked(of).slice(0, count)), sumOf(by, first)]
    slips.push(sumOf(of, order.slice(0, count + 1)), sumOf(of, order.slice(-count)))
    return [worded(dice, 'leaders', said), sumOf(of, first), ...slips]
  },
  nextYear(dice, { members, rows, measures }) {
    const measure = dice.pick(measures)
    const named = dice.integer(0, rows.length - 1)
    const [gain, loss] = dice.integers([6, 40], [2, 5])
    const [all, lost] = [total(measure.values), loss * (rows.length - 1)]
    const text = worded(dice, 'nextYear', { ...measure, members, gain, loss, named: rows[named] })
    return [
      text,
      all + gain - lost,
      all + gain - lost - loss,
      all + gain - loss,
      all - gain + lost,
      all + gain,
    ]
  },
  twoMeasures(dice, { rows, measures }) {
    const [first, second] = dice.sample(measures, 2)
    const [a, b] = dice.sample([...rows.keys()], 2)
    const sums = [a, b].map((row) => first.values[row] + second.values[row])
    const apart = ([one, other]: readonly number[]) => Math.abs(one - other)
    const slips = [first, second].map(({ values }) => apart([values[a], values[b]]))
    const said = { first: first.items, second: second.items, a: rows[a], b: rows[b] }
    return [worded(dice, 'twoMeasures', said), apart(sums), ...slips, total(sums), Math.max(...sums)]
  },
  aboveLimit(dice, { members, measures }) {
    const measure = dice.pick(measures)
    const { values } = measure
    const limit = dice.integer(Math.min(...values) + 1, Math.max(...values) - 1)
    const over = values.filter((value) => value > limit)
    const [all, under] = [total(over), total(values.filter((value) => value < limit))]
    const price = dice.integer(3, 12)
    const beyond = all - limit * over.length
    const text = worded(dice, 'aboveLimit', { ...measure, members, limit, price })
    return [text, price * beyond, price * all, beyond, price * (all - limit), price * under]
  },
}

/** Find cells and calculate with them; the answer is an integer. */
export const tableArithmeticQuestions: readonly QuestionMaker[] = Object.values(exercises).map(
  (exercise) => (dice: Dice) => {
    const table = drawTable(dice)
    const [text, ...results] = exercise(dice, table)
    const question = worded(dice, 'tableExercise', { about: table.about, exercise: text })
    return numberQuestion([question, ...results], [table.table])
  },
)

/** Rounding of halves is ambiguous, so near a half there is no question. */
function rounded(value: number): number {
  return Math.abs((value % 1) - 0.5) < 0.02 ? Number.NaN : Math.round(value)
}
