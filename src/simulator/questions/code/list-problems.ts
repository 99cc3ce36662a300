import type { Draw } from '../draw.ts'
import { type ProblemTemplate, program } from './code-problem.ts'

type Values = readonly number[]

const sum = (values: Values): number => values.reduce((a, b) => a + b, 0)
const signature = { parameters: ['values: list[int]'], returns: 'int' } as const
const toList = { parameters: ['values: list[int]'], returns: 'list[int]' } as const

/** Now and then the empty list; values that often hit the numbers that matter. */
function someValues(draw: Draw, low: number, high: number, important: Values = []): number[] {
  return Array.from({ length: draw.integer(0, 9) }, () =>
    important.length > 0 && draw.integer(1, 3) === 1 ? draw.pick(important) : draw.integer(low, high),
  )
}

/** Functions of a list of whole numbers. */
export const listProblems: readonly ProblemTemplate[] = [
  (draw) => {
    const low = draw.integer(-10, 20)
    const high = low + draw.integer(5, 30)
    const body = (condition: string) => `return sum(1 for value in values if ${condition})`
    const count = (fits: (v: number) => boolean) => (values: Values) => values.filter(fits).length
    return {
      entryPoint: 'count_in_range',
      ...signature,
      statement: `that returns how many numbers in the list are greater than ${low} and at most ${high}.`,
      input: (d) => [someValues(d, low - 10, high + 10, [low, high])],
      right: program(
        body(`${low} < value <= ${high}`),
        count((v) => low < v && v <= high),
      ),
      wrong: [
        program(
          body(`${low} <= value <= ${high}`),
          count((v) => low <= v && v <= high),
        ),
        program(
          body(`${low} < value < ${high}`),
          count((v) => low < v && v < high),
        ),
        program(
          body(`value > ${low}`),
          count((v) => v > low),
        ),
      ],
    }
  },
  (draw) => {
    const [rank, name] = draw.pick([
      [2, 'second'],
      [3, 'third'],
      [4, 'fourth'],
    ] as const)
    const none = draw.integer(-20, -1)
    const pick = (sorted: Values) => sorted[rank - 1] ?? none
    const body = (sorted: string) =>
      `ordered = ${sorted}\nreturn ordered[${rank - 1}] if len(ordered) >= ${rank} else ${none}`
    const down = (values: Values) => [...values].sort((a, b) => b - a)
    return {
      entryPoint: `${name}_largest`,
      ...signature,
      statement: `that returns the ${name} largest of the different values in the list: a value that occurs several times counts once. If there are too few different values, it returns ${none}.`,
      input: (d) => [d.list(d.integer(0, 8), 0, d.pick([4, 9, 60]))],
      right: program(body('sorted(set(values), reverse=True)'), (values: Values) =>
        pick(down([...new Set(values)])),
      ),
      wrong: [
        program(body('sorted(values, reverse=True)'), (values: Values) => pick(down(values))),
        program(body('sorted(set(values))'), (values: Values) => pick(down([...new Set(values)]).reverse())),
      ],
    }
  },
  (draw) => {
    const least = draw.integer(5, 60)
    const reading = draw.pick(['temperatures', 'wind speeds', 'water levels', 'noise levels'])
    const body = (comparison: string, reset: boolean) =>
      `best = current = 0\nfor value in values:\n    if value ${comparison} ${least}:\n        current += 1\n        best = max(best, current)\n${reset ? '    else:\n        current = 0\n' : ''}return best`
    const longest = (fits: (v: number) => boolean, reset: boolean) => (values: Values) => {
      let [best, current] = [0, 0]
      for (const value of values) {
        current = fits(value) ? current + 1 : reset ? 0 : current
        best = Math.max(best, current)
      }
      return best
    }
    return {
      entryPoint: 'longest_run',
      ...signature,
      statement: `for a list of ${reading}, measured hour by hour. It returns the length of the longest unbroken run of measurements that are ${least} or more.`,
      input: (d) => [someValues(d, least - 4, least + 6, [least])],
      right: program(
        body('>=', true),
        longest((v) => v >= least, true),
      ),
      wrong: [
        program(
          body('>', true),
          longest((v) => v > least, true),
        ),
        program(
          body('>=', false),
          longest((v) => v >= least, false),
        ),
      ],
    }
  },
  (draw) => {
    const by = draw.integer(2, 9)
    const things = draw.pick(['list', 'list of seat numbers', 'list of card values', 'list of shift numbers'])
    const turn = (values: Values, places: number) => [...values.slice(-places), ...values.slice(0, -places)]
    return {
      entryPoint: 'rotate_right',
      ...toList,
      statement: `that takes a ${things} and returns it rotated to the right by ${by} places: with each place the last element moves to the front. The list may be shorter than that, or empty.`,
      input: (d) => [d.list(d.integer(0, 12), 1, 40)],
      right: program(
        `if not values:\n    return []\nshift = ${by} % len(values)\nreturn values[len(values) - shift:] + values[:len(values) - shift]`,
        (values: Values) => {
          const shift = values.length === 0 ? 0 : by % values.length
          return shift === 0 ? [...values] : turn(values, shift)
        },
      ),
      wrong: [
        program(`return values[-${by}:] + values[:-${by}]`, (values: Values) => turn(values, by)),
        program(
          `if not values:\n    return []\nshift = ${by} % len(values)\nreturn values[shift:] + values[:shift]`,
          (values: Values) => {
            const shift = values.length === 0 ? 0 : by % values.length
            return [...values.slice(shift), ...values.slice(0, shift)]
          },
        ),
      ],
    }
  },
  (draw) => {
    const limit = draw.integer(12, 90)
    const none = draw.pick([-1, -1, 0])
    const body = (comparison: string, result: string) =>
      `total = 0\nfor day, value in enumerate(values, 1):\n    total += value\n    if total ${comparison} ${limit}:\n        return ${result}\nreturn ${none}`
    const find = (enough: (total: number) => boolean, shift: number) => (values: Values) => {
      const day = values.findIndex((_, index) => enough(sum(values.slice(0, index + 1))))
      return day === -1 ? none : day + 1 + shift
    }
    const goods = draw.pick(['kilometres run', 'pages read', 'parcels sorted', 'litres of rain'])
    return {
      entryPoint: 'day_of_passing',
      ...signature,
      statement: `for a list with the ${goods} on each day. It returns the number of the day, counted from 1, on which their total exceeds ${limit} for the first time, or ${none} if that never happens.`,
      input: (d) => {
        const values = d.list(d.integer(1, 8), 0, Math.ceil(limit / 3))
        const exact = limit - sum(values)
        return [exact > 0 && d.integer(1, 2) === 1 ? [...values, exact, d.integer(1, 9)] : values]
      },
      right: program(
        body('>', 'day'),
        find((total) => total > limit, 0),
      ),
      wrong: [
        program(
          body('>=', 'day'),
          find((total) => total >= limit, 0),
        ),
        program(
          body('>', 'day - 1'),
          find((total) => total > limit, -1),
        ),
      ],
    }
  },
  (draw) => {
    const size = draw.integer(2, 6)
    const factor = draw.integer(1, 9)
    const windows = (values: Values, width: number, count: number) =>
      Array.from(
        { length: Math.max(0, count) },
        (_, index) => factor * sum(values.slice(index, index + width)),
      )
    const body = (width: number, count: string) =>
      `return [${factor === 1 ? '' : `${factor} * `}sum(values[i:i + ${width}]) for i in range(${count})]`
    return {
      entryPoint: 'window_sums',
      ...toList,
      statement: `that returns, from left to right, the sum of every ${size} neighbouring elements of the list${factor === 1 ? '' : `, multiplied by ${factor}`}. A list with fewer than ${size} elements gives an empty list.`,
      input: (d) => [d.list(d.integer(0, size + 5), -5, 20)],
      right: program(body(size, `len(values) - ${size - 1}`), (values: Values) =>
        windows(values, size, values.length - size + 1),
      ),
      wrong: [
        program(body(size, `len(values) - ${size}`), (values: Values) =>
          windows(values, size, values.length - size),
        ),
        program(body(size, 'len(values)'), (values: Values) => windows(values, size, values.length)),
      ],
    }
  },
  (draw) => {
    const difference = draw.integer(1, 12)
    const things = draw.pick([
      'list',
      'list of house numbers',
      'list of ages',
      'list of prices',
      'list of test scores',
    ])
    const pairs = (fits: (a: number, b: number) => boolean, fromStart: boolean) => (values: Values) =>
      values.flatMap((a, i) => values.filter((b, j) => (fromStart ? j !== i : j > i) && fits(a, b))).length
    const body = (condition: string, second: string) =>
      `return sum(1 for i, a in enumerate(values) for j, b in enumerate(values) if ${second} and ${condition})`
    return {
      entryPoint: 'count_pairs',
      ...signature,
      statement: `that takes a ${things} and counts the pairs of positions whose values differ by exactly ${difference}, whichever of the two is larger. Each pair of positions counts once.`,
      input: (d) => [d.list(d.integer(0, 8), 0, difference + 5)],
      right: program(
        body(`abs(a - b) == ${difference}`, 'i < j'),
        pairs((a, b) => Math.abs(a - b) === difference, false),
      ),
      wrong: [
        program(
          body(`b - a == ${difference}`, 'i < j'),
          pairs((a, b) => b - a === difference, false),
        ),
        program(
          body(`abs(a - b) == ${difference}`, 'i != j'),
          pairs((a, b) => Math.abs(a - b) === difference, true),
        ),
        program(
          body(`abs(a - b) <= ${difference}`, 'i < j'),
          pairs((a, b) => Math.abs(a - b) <= difference, false),
        ),
      ],
    }
  },
  (draw) => {
    const most = draw.integer(2, 4)
    const things = draw.pick([
      'stamps',
      'orders',
      'song numbers',
      'lottery numbers',
      'badge numbers',
      'coins',
    ])
    const keep = (limit: number) => (values: Values) =>
      values.filter(
        (value, index) => values.slice(0, index).filter((other) => other === value).length < limit,
      )
    const last = (values: Values) => keep(most)([...values].reverse()).reverse()
    const body = (limit: number) =>
      `kept = []\nfor value in values:\n    if kept.count(value) < ${limit}:\n        kept.append(value)\nreturn kept`
    return {
      entryPoint: 'limit_repeats',
      ...toList,
      statement: `for a list of ${things}. It returns a list in the same order in which every value stays at most ${['two', 'three', 'four'][most - 2]} times: the first occurrences are kept, later ones are dropped.`,
      input: (d) => [d.list(d.integer(0, 11), 1, d.integer(2, 4))],
      right: program(body(most), keep(most)),
      wrong: [
        program(body(1), keep(1)),
        program(body(most + 1), keep(most + 1)),
        program(
          `kept = []\nfor value in reversed(values):\n    if kept.count(value) < ${most}:\n        kept.insert(0, value)\nreturn kept`,
          last,
        ),
      ],
    }
  },
  (draw) => {
    const size = draw.integer(2, 7)
    const add = draw.integer(0, 9)
    const blocks = (values: Values, reverseRest: boolean) => {
      const result: number[] = []
      for (let start = 0; start < values.length; start += size) {
        const block = values.slice(start, start + size)
        result.push(...(block.length === size || reverseRest ? block.reverse() : block))
      }
      return result.map((value) => value + add)
    }
    const finish = add === 0 ? 'return result' : `return [value + ${add} for value in result]`
    return {
      entryPoint: 'reverse_blocks',
      ...toList,
      statement: `that cuts the list into blocks of ${size} elements, reverses each block and puts the blocks together again in their old order${add === 0 ? '' : `, with ${add} added to every element`}. The last block may be shorter; it is reversed as well.`,
      input: (d) => [d.list(d.integer(0, 2 * size + 3), 0, 30)],
      right: program(
        `result = []\nfor start in range(0, len(values), ${size}):\n    result += values[start:start + ${size}][::-1]\n${finish}`,
        (values: Values) => blocks(values, true),
      ),
      wrong: [
        program(
          `result = []\nfor start in range(0, len(values), ${size}):\n    block = values[start:start + ${size}]\n    result += block[::-1] if len(block) == ${size} else block\n${finish}`,
          (values: Values) => blocks(values, false),
        ),
        program(`result = values[::-1]\n${finish}`, (values: Values) =>
          [...values].reverse().map((value) => value + add),
        ),
      ],
    }
  },
  (draw) => {
    const [every, factor] = [draw.integer(2, 6), draw.integer(2, 9)]
    const weigh = (chosen: (index: number) => boolean) => (values: Values) =>
      sum(values.map((value, index) => (chosen(index) ? factor * value : value)))
    const body = (condition: string, start: number) =>
      `return sum(${factor} * value if ${condition} else value for place, value in enumerate(values, ${start}))`
    return {
      entryPoint: 'weighted_total',
      ...signature,
      statement: `that adds up the list, where every ${ordinals[every]} element (the ${ordinals[every]}, the ${ordinals[2 * every]}, and so on, counted from the first) counts ${factor} times.`,
      input: (d) => [d.list(d.integer(0, 3 * every), 1, 20)],
      right: program(
        body(`place % ${every} == 0`, 1),
        weigh((index) => (index + 1) % every === 0),
      ),
      wrong: [
        program(
          body(`place % ${every} == 0`, 0),
          weigh((index) => index % every === 0),
        ),
        program(
          body(`place == ${every}`, 1),
          weigh((index) => index + 1 === every),
        ),
      ],
    }
  },
  (draw) => {
    const least = draw.integer(2, 12)
    const heights = draw.pick([
      'heights along a trail',
      'prices day by day',
      'loudness values of a recording',
    ])
    const body = (from: string, first: string, second: string) =>
      `return sum(1 for i in range(${from}, len(values) - 1) if ${first} and ${second})`
    const high = (i: string) => `values[i] - values[${i}] >= ${least}`
    const count = (fits: (left: number, here: number, right: number) => boolean) => (values: Values) =>
      values.filter((here, i) => i > 0 && i < values.length - 1 && fits(values[i - 1]!, here, values[i + 1]!))
        .length
    return {
      entryPoint: 'count_peaks',
      ...signature,
      statement: `for a list of ${heights}. It returns how many elements are peaks, that is, at least ${least} higher than the element before and at least ${least} higher than the element after. The first and the last element are never peaks.`,
      input: (d) => [d.list(d.integer(1, 10), 0, 2 * least + 4)],
      right: program(
        body('1', high('i - 1'), high('i + 1')),
        count((left, here, right) => here - left >= least && here - right >= least),
      ),
      wrong: [
        program(
          body('1', high('i - 1').replace('>=', '>'), high('i + 1').replace('>=', '>')),
          count((left, here, right) => here - left > least && here - right > least),
        ),
        program(
          body('1', high('i - 1'), 'values[i] > values[i + 1]'),
          count((left, here, right) => here - left >= least && here > right),
        ),
      ],
    }
  },
  (draw) => {
    const low = draw.integer(-5, 15)
    const high = low + draw.integer(8, 40)
    const clamp = (value: number) => Math.min(high, Math.max(low, value))
    const sensor = draw.pick(['a thermometer', 'a scale', 'a pressure gauge', 'a light meter'])
    return {
      entryPoint: 'clamped_sum',
      ...signature,
      statement: `for the readings of ${sensor} that can show ${low} to ${high} only. Readings below ${low} count as ${low}, readings above ${high} count as ${high}, and the function returns the sum of them all.`,
      input: (d) => [someValues(d, low - 15, high + 15, [low, high])],
      right: program(`return sum(min(${high}, max(${low}, value)) for value in values)`, (values: Values) =>
        sum(values.map(clamp)),
      ),
      wrong: [
        program(`return sum(value for value in values if ${low} <= value <= ${high})`, (values: Values) =>
          sum(values.filter((value) => low <= value && value <= high)),
        ),
        program(`return min(${high}, max(${low}, sum(values)))`, (values: Values) => clamp(sum(values))),
        program(`return sum(min(${high}, value) for value in values)`, (values: Values) =>
          sum(values.map((value) => Math.min(high, value))),
        ),
      ],
    }
  },
  (draw) => {
    const modulus = draw.integer(3, 12)
    const direction = draw.pick([1, -1])
    const order =
      (...keys: ((v: number) => number)[]) =>
      (values: Values) =>
        [...values].sort((a, b) => keys.map((key) => key(a) - key(b)).find((d) => d !== 0) ?? 0)
    const rest = (v: number) => v % modulus
    const minus = direction === 1 ? '' : '-'
    return {
      entryPoint: 'sort_by_remainder',
      ...toList,
      statement: `that sorts a list of non-negative integers by the remainder they leave when divided by ${modulus}, the smallest remainder first. Numbers with the same remainder are ordered by size, the ${direction === 1 ? 'smallest' : 'largest'} first.`,
      input: (d) => [d.list(d.integer(0, 8), 0, 5 * modulus)],
      right: program(
        `return sorted(values, key=lambda value: (value % ${modulus}, ${minus}value))`,
        order(rest, (v) => direction * v),
      ),
      wrong: [
        program(`return sorted(values, key=lambda value: value % ${modulus})`, order(rest)),
        program(
          `return sorted(values, key=lambda value: (value % ${modulus}, ${direction === 1 ? '-' : ''}value))`,
          order(rest, (v) => -direction * v),
        ),
      ],
    }
  },
]

const ordinals = [
  ...[
    'zeroth',
    'first',
    'second',
    'third',
    'fourth',
    'fifth',
    'sixth',
    'seventh',
    'eighth',
    'ninth',
    'tenth',
  ],
  ...['eleventh', 'twelfth'],
]
