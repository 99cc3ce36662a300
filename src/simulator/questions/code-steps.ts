import type { JsonValue } from '../../library/json-value.ts'
import type { Dice } from './dice.ts'

export type Numbers = readonly number[]

/** A Python expression over `values` and its TypeScript equivalent, so that the result is known without running Python. */
export interface Line<T> {
  readonly python: string
  run(values: Numbers): T
}

/** A program line with a description, and the same line with a likely slip. */
export interface Step<T = Numbers> {
  readonly says: string
  readonly right: Line<T>
  readonly slip: Line<T>
}

/** The last line of a program, which names its function. */
export interface Result extends Step<JsonValue> {
  readonly entryPoint: string
  readonly returns: 'int' | 'list[int]'
}

function line<T>(python: string, run: (values: Numbers) => T): Line<T> {
  return { python, run }
}

function keep(condition: string, fits: (value: number) => boolean): Line<Numbers> {
  return line(`[value for value in values if ${condition}]`, (values) => values.filter(fits))
}

function change(expression: string, changed: (value: number) => number): Line<Numbers> {
  return line(`[${expression} for value in values]`, (values) => values.map(changed))
}

const sum = (values: Numbers) => values.reduce((a, b) => a + b, 0)
const ascending = (values: Numbers) => [...values].sort((a, b) => a - b)

// Each step draws its numbers when requested.

/** First lines: inputs are not negative, so remainders are the same in both languages. */
export const selections: readonly ((dice: Dice) => Step)[] = [
  (dice, [low, width] = dice.integers([2, 15], [8, 24])) => ({
    says: `keeps the numbers that are greater than ${low} and at most ${low + width}`,
    right: keep(`${low} < value <= ${low + width}`, (value) => low < value && value <= low + width),
    slip: keep(`${low} <= value <= ${low + width}`, (value) => low <= value && value <= low + width),
  }),
  (dice, [modulus, limit] = dice.integers([4, 9], [1, 3])) => ({
    says: `keeps the numbers that leave a remainder of at least ${limit} when divided by ${modulus}`,
    right: keep(`value % ${modulus} >= ${limit}`, (value) => value % modulus >= limit),
    slip: keep(`value % ${modulus} > ${limit}`, (value) => value % modulus > limit),
  }),
  (dice, [least] = dice.integers([1, 12])) => ({
    says: `keeps the numbers that are at least ${least} larger than the one directly before them in the list`,
    right: line(`[b for a, b in zip(values, values[1:]) if b - a >= ${least}]`, (values) =>
      values.filter((value, index) => index > 0 && value - values[index - 1] >= least),
    ),
    slip: line(`[a for a, b in zip(values, values[1:]) if b - a >= ${least}]`, (values) =>
      values.filter((value, index) => values[index + 1] - value >= least),
    ),
  }),
]

/** Second lines. */
export const transformations: readonly ((dice: Dice) => Step)[] = [
  (dice, [factor, added] = dice.integers([2, 9], [2, 20])) => ({
    says: `multiplies each of them by ${factor} and adds ${added} to each product`,
    right: change(`value * ${factor} + ${added}`, (value) => value * factor + added),
    slip: change(`(value + ${added}) * ${factor}`, (value) => (value + added) * factor),
  }),
  (dice, [limit] = dice.integers([10, 35])) => ({
    says: `replaces each number above ${limit} by ${limit}`,
    right: change(`min(value, ${limit})`, (value) => Math.min(value, limit)),
    slip: keep(`value <= ${limit}`, (value) => value <= limit),
  }),
  (dice, [goal] = dice.integers([5, 35])) => ({
    says: `replaces each of them by its distance from ${goal}, which is never negative`,
    right: change(`abs(value - ${goal})`, (value) => Math.abs(value - goal)),
    slip: change(`value - ${goal}`, (value) => value - goal),
  }),
]

/** Last lines. */
export const results: readonly ((dice: Dice) => Result)[] = [
  () => ({
    entryPoint: 'total',
    returns: 'int',
    says: 'the sum of these numbers, or 0 if there are none',
    right: line('sum(values)', sum),
    slip: line('sum(set(values))', (values) => sum([...new Set(values)])),
  }),
  (dice, [none, rank] = dice.integers([-9, -1], [2, 3])) => {
    const word = ['second', 'third'][rank - 2]
    const at = (ordered: Numbers) => ordered[rank - 1] ?? none
    const picked = `[${rank - 1}] if len(values) >= ${rank} else ${none}`
    return {
      entryPoint: `${word}_largest`,
      returns: 'int',
      says: `the ${word} of them in the order from the largest to the smallest, or ${none} if there are fewer`,
      right: line(`sorted(values)[::-1]${picked}`, (values) => at(ascending(values).reverse())),
      slip: line(`sorted(values)${picked}`, (values) => at(ascending(values))),
    }
  },
  (dice, [limit] = dice.integers([10, 60])) => {
    const large = (values: Numbers) => values.filter((value) => value > limit)
    return {
      entryPoint: 'count_large',
      returns: 'int',
      says: `how many of these numbers are greater than ${limit}, where equal numbers count once`,
      right: line(`sum(1 for value in set(values) if value > ${limit})`, (all) => new Set(large(all)).size),
      slip: line(`sum(1 for value in values if value > ${limit})`, (all) => large(all).length),
    }
  },
  () => ({
    entryPoint: 'ordered',
    returns: 'list[int]',
    says: 'the list of these numbers from the largest to the smallest',
    right: line('sorted(values, reverse=True)', (values) => ascending(values).reverse()),
    slip: line('values[::-1]', (values) => [...values].reverse()),
  }),
]
