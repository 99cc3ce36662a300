import type { Dice } from './dice.ts'
import { drawTable, type Measure, ranked, type StatisticsTable, total } from './statistics-table.ts'
import { type Calculation, numberQuestion, type QuestionMaker } from './synthetic-question.ts'
import { capital, listed } from './wording.ts'
import { worded } from './world-facts.ts'

const exercises: Readonly<Record<string, (dice: Dice, table: StatisticsTable) => Calculation>> = {
  spread(dice, { member, rows, measures }) {
    const measure = dice.pick(measures)
    const { verb, infinitive, items, values } = measure
    const order = ranked(measure)
    const [most, second, fewest] = [values[order[0]], values[order[1]], Math.min(...values)]
    const named = order[dice.integer(1, rows.length - 2)]
    return dice.pick<Calculation>([
      [
        `How many more ${items} than the ${member} with the fewest did the ${member} with the most ${infinitive}?`,
        most - fewest,
        second - fewest,
        most - values[rows.length - 1],
        most + fewest,
      ],
      [
        `By how many ${items} does ${rows[named]} lag behind the ${member} that ${verb} the most?`,
        most - values[named],
        second - values[named],
        most - fewest,
        values[named] - fewest,
      ],
    ])
  },
  points(dice, { rows, measures }) {
    const [first, second] = dice.sample(measures, 2)
    const [many, few] = dice.different(2, 2, 9)
    const [a, b] = dice.sample([...rows.keys()], 2)
    const score = (row: number) => many * first.values[row] + few * second.values[row]
    return [
      `In a competition every ${first.item} counts ${many} points and every ${second.item} ${few} points. How many points do ${rows[a]} and ${rows[b]} reach together?`,
      score(a) + score(b),
      few * (first.values[a] + first.values[b]) + many * (second.values[a] + second.values[b]),
      score(a),
      score(b),
      many * (first.values[a] + first.values[b]),
    ]
  },
  mean(dice, { members, member, rows, measures }) {
    const { verb, infinitive, items, values } = dice.pick(measures)
    const left = dice.integer(0, rows.length - 1)
    const others = values.filter((_, row) => row !== left)
    const average = total(others) / others.length
    return dice.pick<Calculation>([
      [
        `How many ${items} did the ${members} ${infinitive} on average per ${member}? Round to the nearest whole number.`,
        rounded(total(values) / rows.length),
        Math.floor(total(values) / (rows.length - 1)),
        Math.round(average),
        total(values),
      ],
      [
        `Leave ${rows[left]} aside. What is the mean number of ${items} ${verb} by the other ${members}, rounded to the nearest whole number?`,
        rounded(average),
        Math.round(total(values) / rows.length),
        Math.round(total(others) / rows.length),
        total(others),
      ],
    ])
  },
  share(dice, { members, rows, measures }) {
    const { verb, items, values } = dice.pick(measures)
    const [a, b] = dice.sample([...rows.keys()], 2)
    const percent = (part: number, whole: number) => (100 * part) / whole
    return dice.pick<Calculation>([
      [
        `What percentage of all the ${items} in the table is due to ${rows[a]}? Round to the nearest whole per cent and give the number only.`,
        rounded(percent(values[a], total(values))),
        Math.round(percent(values[a], total(values) - values[a])),
        Math.round(percent(values[a], Math.max(...values))),
        Math.round(percent(values[b], total(values))),
      ],
      [
        `${capital(listed([rows[a], rows[b]]))} together ${verb} which percentage of all the ${items} of these ${members}? Round to the nearest whole per cent and give the number only.`,
        rounded(percent(values[a] + values[b], total(values))),
        Math.round(percent(values[a], total(values))),
        Math.round(percent(values[b], total(values))),
        Math.round(percent(values[a] + values[b], total(values) - values[a] - values[b])),
      ],
    ])
  },
  leaders(dice, { members, measures }) {
    const [by, of] = dice.sample(measures, 2)
    const count = dice.pick([2, 3])
    const order = ranked(by)
    const sumOf = (measure: Measure, rows: readonly number[]) => total(rows.map((row) => measure.values[row]))
    return [
      `Take the ${count === 2 ? 'two' : 'three'} ${members} that ${by.verb} the most ${by.items}. How many ${of.items} did they ${of.infinitive} between them?`,
      sumOf(of, order.slice(0, count)),
      sumOf(of, ranked(of).slice(0, count)),
      sumOf(by, order.slice(0, count)),
      sumOf(of, order.slice(0, count + 1)),
      sumOf(of, order.slice(-count)),
    ]
  },
  nextYear(dice, { members, rows, measures }) {
    const { verb, items, values } = dice.pick(measures)
    const named = dice.integer(0, rows.length - 1)
    const [gain, loss] = dice.integers([6, 40], [2, 5])
    const all = total(values)
    return [
      `Suppose that in the following year the number of ${items} ${verb} rises by ${gain} for ${rows[named]} and falls by ${loss} for each of the other ${members}. What is the total number of ${items} ${verb} in that year?`,
      all + gain - loss * (rows.length - 1),
      all + gain - loss * rows.length,
      all + gain - loss,
      all - gain + loss * (rows.length - 1),
      all + gain,
    ]
  },
  twoMeasures(dice, { rows, measures }) {
    const [first, second] = dice.sample(measures, 2)
    const [a, b] = dice.sample([...rows.keys()], 2)
    const sums = [a, b].map((row) => first.values[row] + second.values[row])
    return [
      `Add up ${first.items} and ${second.items} for ${rows[a]}, and do the same for ${rows[b]}. By how much do the two sums differ?`,
      Math.abs(sums[0] - sums[1]),
      Math.abs(first.values[a] - first.values[b]),
      Math.abs(second.values[a] - second.values[b]),
      sums[0] + sums[1],
      Math.max(...sums),
    ]
  },
  aboveLimit(dice, { members, measures }) {
    const { verb, items, item, values } = dice.pick(measures)
    const limit = dice.integer(Math.min(...values) + 1, Math.max(...values) - 1)
    const [over, under] = [values.filter((value) => value > limit), values.filter((value) => value < limit)]
    const price = dice.integer(3, 12)
    return [
      `Only ${members} that ${verb} more than ${limit} ${items} get a bonus: ${price} tokens for each ${item} beyond ${limit}. How many tokens are paid out in all?`,
      price * (total(over) - limit * over.length),
      price * total(over),
      total(over) - limit * over.length,
      price * (total(over) - limit),
      price * total(under),
    ]
  },
}

/** Cells to be found and calculated with; the answer is a whole number. */
export const tableArithmeticQuestions: readonly QuestionMaker[] = Object.values(exercises).map(
  (exercise) => (dice: Dice) => {
    const table = drawTable(dice)
    const [text, ...results] = exercise(dice, table)
    const question = worded(dice, 'tableExercise', { about: table.about, exercise: text })
    return numberQuestion([question, ...results], [table.table])
  },
)

/** Halves have no agreed direction: where one is near, there is no answer and so no question. */
function rounded(value: number): number {
  return Math.abs((value % 1) - 0.5) < 0.02 ? Number.NaN : Math.round(value)
}
