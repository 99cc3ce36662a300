import type { Draw } from '../draw.ts'
import { type ProblemTemplate, program } from './code-problem.ts'

type Rows = readonly (readonly number[])[]
type Entries = readonly (readonly [string, number])[]

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
const names = ['ada', 'ben', 'cleo', 'dan', 'eva', 'finn', 'gwen', 'hal']

function entries(
  draw: Draw,
  count: number,
  low: number,
  high: number,
  important: number,
): [string, number][] {
  return Array.from({ length: count }, () => [
    draw.pick(names.slice(0, 5)),
    draw.integer(1, 3) === 1 ? important : draw.integer(low, high),
  ])
}

/** The sums by name, in the order in which the names appear. */
function totals(list: Entries): Map<string, number> {
  const result = new Map<string, number>()
  for (const [name, amount] of list) result.set(name, (result.get(name) ?? 0) + amount)
  return result
}

/** Functions of tables, dictionaries, names and moves. */
export const recordProblems: readonly ProblemTemplate[] = [
  (draw) => {
    const cap = draw.integer(6, 40)
    const what = draw.pick(['points of a team', 'sales of a shop', 'catches of a boat', 'hours of a shift'])
    const best = (rows: Rows, score: (row: readonly number[]) => number, last: boolean) => {
      const scores = rows.map(score)
      const most = Math.max(...scores)
      return last ? scores.lastIndexOf(most) : scores.indexOf(most)
    }
    const body = (score: string, order: string) => `scores = [${score} for row in rows]\nreturn ${order}`
    const first = 'scores.index(max(scores))'
    const capped = (row: readonly number[]) => sum(row.map((value) => Math.min(value, cap)))
    return {
      entryPoint: 'best_row',
      parameters: ['rows: list[list[int]]'],
      returns: 'int',
      statement: `for a table whose rows hold the ${what}. Values above ${cap} count as ${cap} only. The function returns the index, counted from 0, of the row with the largest sum; among equal sums the first row wins.`,
      input: (d) => {
        const width = d.integer(1, 3)
        return [Array.from({ length: d.integer(2, 4) }, () => d.list(width, cap - 3, cap + 6))]
      },
      right: program(body(`sum(min(value, ${cap}) for value in row)`, first), (rows: Rows) =>
        best(rows, capped, false),
      ),
      wrong: [
        program(body('sum(row)', first), (rows: Rows) => best(rows, sum, false)),
        program(
          body(
            `sum(min(value, ${cap}) for value in row)`,
            'len(scores) - 1 - scores[::-1].index(max(scores))',
          ),
          (rows: Rows) => best(rows, capped, true),
        ),
      ],
    }
  },
  (draw) => {
    const least = draw.integer(3, 30)
    const goods = draw.pick(['seeds', 'books', 'tools', 'fabrics', 'spices'])
    const low = (stock: Readonly<Record<string, number>>, limit: number) =>
      Object.keys(stock).filter((name) => stock[name]! < limit)
    const body = (comparison: string, sorted: boolean) => {
      const list = `[name for name, count in stock.items() if count ${comparison} ${least}]`
      return sorted ? `return sorted(${list})` : `return ${list}`
    }
    return {
      entryPoint: 'to_reorder',
      parameters: ['stock: dict[str, int]'],
      returns: 'list[str]',
      statement: `for the stock of a shop that sells ${goods}: a dictionary from the name of an article to the number in store. It returns the names of all articles of which fewer than ${least} are left, in alphabetical order.`,
      input: (d) => [
        Object.fromEntries(
          d
            .sample(names, d.integer(0, 6))
            .map((name) => [name, d.pick([least, least - 1, d.integer(0, 2 * least)])]),
        ),
      ],
      right: program(body('<', true), (stock: Readonly<Record<string, number>>) => low(stock, least).sort()),
      wrong: [
        program(body('<=', true), (stock: Readonly<Record<string, number>>) => low(stock, least + 1).sort()),
        program(body('<', false), (stock: Readonly<Record<string, number>>) => low(stock, least)),
      ],
    }
  },
  (draw) => {
    const least = draw.integer(2, 4)
    const post = draw.pick([
      'a village council',
      'a chess club',
      'a school parliament',
      'a choir',
      'a book prize',
      'a jury',
    ])
    const count = (votes: readonly string[], name: string) => votes.filter((vote) => vote === name).length
    const elected = (votes: readonly string[], limit: number) =>
      [...new Set(votes)].filter((name) => count(votes, name) >= limit)
    const body = (comparison: string, source: string) =>
      `return sorted(name for name in ${source} if votes.count(name) ${comparison} ${least})`
    return {
      entryPoint: 'elected',
      parameters: ['votes: list[str]'],
      returns: 'list[str]',
      statement: `for an election to ${post}. The list holds one name for each vote. The function returns the names with at least ${least} votes, each once and in alphabetical order.`,
      input: (d) => [Array.from({ length: d.integer(0, 11) }, () => d.pick(names.slice(0, 4)))],
      right: program(body('>=', 'set(votes)'), (votes: readonly string[]) => elected(votes, least).sort()),
      wrong: [
        program(body('>', 'set(votes)'), (votes: readonly string[]) => elected(votes, least + 1).sort()),
        program(body('>=', 'votes'), (votes: readonly string[]) =>
          votes.filter((name) => count(votes, name) >= least).sort(),
        ),
      ],
    }
  },
  (draw) => {
    const start = draw.integer(5, 80)
    const coins = draw.pick(['tokens', 'coins', 'credits', 'vouchers'])
    const negative = (list: Entries, limit: number, first: number) =>
      [...totals(list)].filter(([, total]) => first + total < limit).map(([name]) => name)
    const body = (from: number, comparison: string) =>
      `balance = {}\nfor name, amount in entries:\n    balance[name] = balance.get(name, ${from}) + amount\nreturn sorted(name for name, total in balance.items() if total ${comparison} 0)`
    return {
      entryPoint: 'in_debt',
      parameters: ['entries: list[list]'],
      returns: 'list[str]',
      statement: `for the bookkeeping of a game. Everybody begins with ${start} ${coins}. Each entry is a list of a name and an amount that is added to what this player has; it may be negative. The function returns the names of those who stand below zero in the end, in alphabetical order.`,
      input: (d) => [entries(d, d.integer(0, 8), -start - 5, 15, -start)],
      right: program(body(start, '<'), (list: Entries) => negative(list, 0, start).sort()),
      wrong: [
        program(body(start, '<='), (list: Entries) => negative(list, 1, start).sort()),
        program(body(0, '<'), (list: Entries) => negative(list, 0, 0).sort()),
      ],
    }
  },
  (draw) => {
    const [step, wall] = [draw.integer(1, 4), draw.integer(3, 12)]
    const robot = draw.pick(['lawn robot', 'toy tank', 'cleaning robot', 'moon rover', 'warehouse cart'])
    const walk = (moves: string, limit: number, swapped: boolean) => {
      const at = { x: 0, y: 0 }
      const clamp = (value: number) => Math.max(-limit, Math.min(limit, value))
      for (const move of moves) {
        if (move === 'N' || move === 'S') at.y = clamp(at.y + (move === 'N' ? step : -step))
        else at.x = clamp(at.x + (move === 'E' ? step : -step))
      }
      return swapped ? [at.y, at.x] : [at.x, at.y]
    }
    const body = (bounded: boolean, result: string) => {
      const kept = (name: string) => (bounded ? `max(-${wall}, min(${wall}, ${name}))` : name)
      return `x = y = 0\nfor move in moves:\n    x += ${step} * ((move == 'E') - (move == 'W'))\n    y += ${step} * ((move == 'N') - (move == 'S'))\n    x, y = ${kept('x')}, ${kept('y')}\nreturn ${result}`
    }
    return {
      entryPoint: 'final_position',
      parameters: ['moves: str'],
      returns: 'list[int]',
      statement: `that follows a ${robot} which starts at x = 0, y = 0. Each letter of \`moves\` takes it ${step === 1 ? 'one unit' : `${step} units`} on: N raises y, S lowers y, E raises x, W lowers x. Walls stand at ${wall} and -${wall} in both directions: a move that would lead beyond one ends at the wall. The function returns the list [x, y] at the end.`,
      input: (d) => {
        const letters = d.pick(['NE', 'NNS', 'EEW', 'SW', 'NSEW'])
        return [Array.from({ length: d.integer(0, 16) }, () => d.pick([...letters])).join('')]
      },
      right: program(body(true, '[x, y]'), (moves: string) => walk(moves, wall, false)),
      wrong: [
        program(body(false, '[x, y]'), (moves: string) => walk(moves, Number.POSITIVE_INFINITY, false)),
        program(body(true, '[y, x]'), (moves: string) => walk(moves, wall, true)),
        program(
          `x = ${step} * (moves.count('E') - moves.count('W'))\ny = ${step} * (moves.count('N') - moves.count('S'))\nreturn [max(-${wall}, min(${wall}, x)), max(-${wall}, min(${wall}, y))]`,
          (moves: string) =>
            walk(moves, Number.POSITIVE_INFINITY, false).map((value) =>
              Math.max(-wall, Math.min(wall, value)),
            ),
        ),
      ],
    }
  },
  (draw) => {
    const pass = draw.integer(30, 55)
    const good = pass + draw.integer(10, 20)
    const top = good + draw.integer(8, 20)
    const [best, middle, low, none] = draw.pick([
      ['gold', 'silver', 'bronze', 'none'],
      ['A', 'B', 'C', 'F'],
      ['excellent', 'good', 'fair', 'failed'],
    ] as const)
    const grade = (limits: readonly number[]) => (scores: readonly number[]) =>
      scores.map((score) => [best, middle, low].find((_, index) => score >= limits[index]!) ?? none)
    const body = (comparison: string) =>
      `def grade(score):\n    if score ${comparison} ${top}:\n        return '${best}'\n    if score ${comparison} ${good}:\n        return '${middle}'\n    return '${low}' if score ${comparison} ${pass} else '${none}'\nreturn [grade(score) for score in scores]`
    return {
      entryPoint: 'grades',
      parameters: ['scores: list[int]'],
      returns: 'list[str]',
      statement: `that turns each score of a list into a grade: \`${best}\` from ${top} points on, \`${middle}\` from ${good} points on, \`${low}\` from ${pass} points on, and \`${none}\` below that.`,
      input: (d) => [
        Array.from({ length: d.integer(0, 5) }, () => d.pick([d.integer(0, 100), top, good, pass, pass - 1])),
      ],
      right: program(body('>='), grade([top, good, pass])),
      wrong: [
        program(body('>'), grade([top + 1, good + 1, pass + 1])),
        program(body('>=').replace(`if score >= ${top}`, `if score >= ${good}`), grade([good, good, pass])),
      ],
    }
  },
  (draw) => {
    const gap = draw.integer(1, 9)
    const room = draw.pick([
      'a meeting room',
      'a tennis court',
      'a rehearsal studio',
      'a telescope',
      'a sauna',
    ])
    const merge = (bookings: Rows, allowed: number, sorted: boolean) => {
      const merged: [number, number][] = []
      const ordered = sorted ? [...bookings].sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!) : bookings
      for (const [start, end] of ordered as readonly [number, number][]) {
        const last = merged.at(-1)
        if (last !== undefined && start - last[1] <= allowed) last[1] = Math.max(last[1], end)
        else merged.push([start, end])
      }
      return merged
    }
    const body = (allowed: number, source: string) =>
      `merged = []\nfor start, end in ${source}:\n    if merged and start - merged[-1][1] <= ${allowed}:\n        merged[-1][1] = max(merged[-1][1], end)\n    else:\n        merged.append([start, end])\nreturn merged`
    return {
      entryPoint: 'merge_bookings',
      parameters: ['bookings: list[list[int]]'],
      returns: 'list[list[int]]',
      statement: `for the bookings of ${room}, each a list [start, end] of minutes, in no particular order. Bookings that overlap or have a gap of at most ${gap} ${gap === 1 ? 'minute' : 'minutes'} between them are merged into one. The function returns the merged bookings in the order of their start.`,
      input: (d) => [
        Array.from({ length: d.integer(0, 4) }, () => {
          const start = d.integer(0, 10 * gap)
          return [start, start + d.integer(1, 2 * gap)]
        }),
      ],
      right: program(body(gap, 'sorted(bookings)'), (bookings: Rows) => merge(bookings, gap, true)),
      wrong: [
        program(body(0, 'sorted(bookings)'), (bookings: Rows) => merge(bookings, 0, true)),
        program(body(gap, 'bookings'), (bookings: Rows) => merge(bookings, gap, false)),
      ],
    }
  },
  (draw) => {
    const [limit, penalty] = [draw.integer(5, 25), draw.integer(2, 9)]
    const sport = draw.pick([
      'a quiz',
      'an archery contest',
      'a spelling bee',
      'a sailing regatta',
      'a dance contest',
    ])
    const scored = (list: Entries, punish: (points: number) => number) =>
      Object.fromEntries(totals(list.map(([name, points]) => [name, punish(points)] as const)))
    const body = (amount: string) =>
      `table = {}\nfor name, points in entries:\n    table[name] = table.get(name, 0) + ${amount}\nreturn table`
    const right = (points: number) => (points < limit ? points - penalty : points)
    return {
      entryPoint: 'score_table',
      parameters: ['entries: list[list]'],
      returns: 'dict[str, int]',
      statement: `for the results of ${sport}. Each entry is a list of a name and the points of one round. For a round with fewer than ${limit} points, ${penalty} points are taken off. The function returns a dictionary from each name to the total over all rounds.`,
      input: (d) => [entries(d, d.integer(0, 6), 0, 2 * limit, limit)],
      right: program(body(`(points - ${penalty} if points < ${limit} else points)`), (list: Entries) =>
        scored(list, right),
      ),
      wrong: [
        program(body(`(points - ${penalty} if points <= ${limit} else points)`), (list: Entries) =>
          scored(list, (points) => (points <= limit ? points - penalty : points)),
        ),
        program(
          `table = {}\nfor name, points in entries:\n    table[name] = points - ${penalty} if points < ${limit} else points\nreturn table`,
          (list: Entries) => Object.fromEntries(list.map(([name, points]) => [name, right(points)])),
        ),
      ],
    }
  },
]
