import { type ProblemTemplate, program } from './code-problem.ts'

type Count = (value: number) => number

const range = (length: number): number[] => Array.from({ length }, (_, index) => index)
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** Functions of one or two whole numbers. */
export const numberProblems: readonly ProblemTemplate[] = [
  (draw) => {
    const [a, b] = draw.integers(2, 3, 13) as [number, number]
    const body = (condition: string, limit = 'limit') =>
      `return sum(number for number in range(1, ${limit}) if ${condition})`
    const either = `number % ${a} == 0 or number % ${b} == 0`
    const upTo = (limit: number, keep: (n: number) => boolean) => sum(range(limit).filter(keep))
    return {
      entryPoint: 'sum_of_multiples',
      parameters: ['limit: int'],
      returns: 'int',
      statement: `that returns the sum of all positive integers smaller than \`limit\` that are divisible by ${a} or by ${b}. A number that is divisible by both counts once.`,
      input: (d) => [d.integer(1, 6) === 1 ? d.integer(1, Math.max(a, b)) : d.integer(5, 30 * a)],
      right: program(body(either), (limit: number) => upTo(limit, (n) => n % a === 0 || n % b === 0)),
      wrong: [
        program(body(either, 'limit + 1'), (limit: number) =>
          upTo(limit + 1, (n) => n % a === 0 || n % b === 0),
        ),
        program(
          `return sum(range(0, limit, ${a})) + sum(range(0, limit, ${b}))`,
          (limit: number) => upTo(limit, (n) => n % a === 0) + upTo(limit, (n) => n % b === 0),
        ),
        program(body(either.replace('or', 'and')), (limit: number) =>
          upTo(limit, (n) => n % a === 0 && n % b === 0),
        ),
      ],
    }
  },
  (draw) => {
    const base = draw.pick([2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16])
    const times = draw.integer(1, 12)
    const body = (divisor: number, condition: string, start = 0) =>
      `total = ${start}\nwhile ${condition}:\n    total += number % ${divisor}\n    number //= ${divisor}\nreturn total * ${times}`
    const digits =
      (divisor: number, stop: number): Count =>
      (number) => {
        let total = 0
        for (let rest = number; rest >= stop; rest = Math.floor(rest / divisor)) total += rest % divisor
        return total * times
      }
    return {
      entryPoint: 'digit_sum',
      parameters: ['number: int'],
      returns: 'int',
      statement: `that writes the non-negative integer \`number\` in base ${base}, adds up its digits and returns ${times === 1 ? 'the sum' : `${times} times the sum`}. The result is an ordinary integer.`,
      input: (d) => [d.integer(0, d.pick([20, 300, 5000]))],
      right: program(body(base, 'number > 0'), digits(base, 1)),
      wrong: [
        program(body(base, `number >= ${base}`), digits(base, base)),
        program(body(10, 'number > 0'), digits(10, 1)),
      ],
    }
  },
  (draw) => {
    const divisor = draw.integer(2, 9)
    const minus = draw.integer(1, 4)
    const walk =
      (step: (n: number) => number, from = 0): Count =>
      (number) => {
        let count = from
        for (let rest = number; rest > minus; rest = step(rest)) count += 1
        return count
      }
    const body = (step: string, from = 0) =>
      `steps = ${from}\nwhile number > ${minus}:\n    ${step}\n    steps += 1\nreturn steps`
    const mixed = `number = number // ${divisor} if number % ${divisor} == 0 else number - ${minus}`
    const right = (n: number) => (n % divisor === 0 ? n / divisor : n - minus)
    return {
      entryPoint: 'count_steps',
      parameters: ['number: int'],
      returns: 'int',
      statement: `that counts the steps of this game: as long as the number is greater than ${minus}, it is divided by ${divisor} if it is divisible by ${divisor}, and otherwise ${minus} is subtracted from it. The function returns how many steps that takes.`,
      input: (d) => [d.integer(1, d.pick([12, 90, 400]))],
      right: program(body(mixed), walk(right)),
      wrong: [
        program(body(mixed, 1), walk(right, 1)),
        program(
          body(`number -= ${minus}`),
          walk((n) => n - minus),
        ),
        program(
          body(`number //= ${divisor}`),
          walk((n) => Math.floor(n / divisor)),
        ),
      ],
    }
  },
  (draw) => {
    const [a, b] = draw.integers(2, 3, 12) as [number, number]
    const rest = draw.integer(1, b - 1)
    const find =
      (first: number, fits: (n: number) => boolean): Count =>
      (number) => {
        for (let n = number + first; n <= number + 400; n += 1) if (fits(n)) return n
        return -1
      }
    const body = (first: string, condition: string) =>
      `for candidate in range(number + ${first}, number + 401):\n    if ${condition}:\n        return candidate\nreturn -1`
    const fits = `candidate % ${a} != 0 and candidate % ${b} == ${rest}`
    const right = (n: number) => n % a !== 0 && n % b === rest
    return {
      entryPoint: 'next_match',
      parameters: ['number: int'],
      returns: 'int',
      statement: `that returns the smallest integer greater than \`number\` (which is not negative) that leaves the remainder ${rest} when divided by ${b} and is not divisible by ${a}. If there is none among the next 400 integers, it returns -1.`,
      input: (d) => [
        d.pick([d.integer(0, 400), b * d.integer(0, 30) + rest, b * d.integer(0, 30) + rest - 1]),
      ],
      right: program(body('1', fits), find(1, right)),
      wrong: [
        program(body('0', fits), find(0, right)),
        program(
          body('1', `candidate % ${b} == ${rest}`),
          find(1, (n) => n % b === rest),
        ),
      ],
    }
  },
  (draw) => {
    const often = draw.integer(3, 7)
    const rarely = often * draw.integer(4, 9)
    const again = rarely * draw.integer(2, 4)
    const world = draw.pick(['Orrin', 'Velda', 'Tarsis', 'Nimue', 'Kesh', 'Ilmar', 'Brona'])
    return {
      entryPoint: 'is_long_year',
      parameters: ['year: int'],
      returns: 'bool',
      statement: `for the calendar of the planet ${world}. A year is long if its number is divisible by ${often}; years divisible by ${rarely} are an exception and are not long, unless they are divisible by ${again}. The function returns whether the given year is long.`,
      input: (d) => [
        d.pick([
          d.integer(1, 400),
          often * d.integer(1, 90),
          rarely * d.integer(1, 20),
          again * d.integer(1, 9),
        ]),
      ],
      right: program(
        `return year % ${again} == 0 or (year % ${often} == 0 and year % ${rarely} != 0)`,
        (year: number) => year % again === 0 || (year % often === 0 && year % rarely !== 0),
      ),
      wrong: [
        program(
          `return year % ${often} == 0 and year % ${rarely} != 0`,
          (year: number) => year % often === 0 && year % rarely !== 0,
        ),
        program(`return year % ${often} == 0`, (year: number) => year % often === 0),
      ],
    }
  },
  (draw) => {
    const [price, group] = [draw.integer(8, 30), draw.integer(4, 15)]
    const discount = draw.integer(2, Math.floor(price / 2))
    const [place, coin] = [
      draw.pick(['zoo', 'museum', 'swimming pool', 'planetarium']),
      draw.pick(['euros', 'dollars']),
    ]
    return {
      entryPoint: 'entrance_fee',
      parameters: ['visitors: int'],
      returns: 'int',
      statement: `that returns what the entrance to a ${place} costs for so many visitors, in ${coin}. A ticket costs ${price} ${coin}. Groups of ${group} or more visitors pay ${discount} ${coin} less for every ticket.`,
      input: (d) => [d.pick([d.integer(0, 40), group, group - 1, group + d.integer(1, 20)])],
      right: program(
        `price = ${price} if visitors < ${group} else ${price - discount}\nreturn visitors * price`,
        (visitors: number) => visitors * (visitors < group ? price : price - discount),
      ),
      wrong: [
        program(
          `price = ${price} if visitors <= ${group} else ${price - discount}\nreturn visitors * price`,
          (visitors: number) => visitors * (visitors <= group ? price : price - discount),
        ),
        program(
          `total = visitors * ${price}\nif visitors >= ${group}:\n    total -= ${discount}\nreturn total`,
          (visitors: number) => visitors * price - (visitors >= group ? discount : 0),
        ),
      ],
    }
  },
  (draw) => {
    const [free, cost] = [draw.integer(1, 4) * 15, draw.integer(2, 6)]
    const cap = cost * draw.integer(4, 8) + draw.integer(1, cost - 1)
    const body = (hours: string, limit = true) =>
      `hours = ${hours}\nfee = hours * ${cost}\nreturn ${limit ? `min(fee, ${cap})` : 'fee'}`
    const hoursOf: Count = (minutes) => Math.ceil(Math.max(0, minutes - free) / 60)
    return {
      entryPoint: 'parking_fee',
      parameters: ['minutes: int'],
      returns: 'int',
      statement: `that returns the fee for parking a car for so many minutes. The first ${free} minutes are free. After them every hour that has begun costs ${cost} euros, but one never pays more than ${cap} euros in all.`,
      input: (d) => [d.pick([d.integer(0, free), free + 60 * d.integer(0, 10), free + d.integer(1, 900)])],
      right: program(body(`(max(0, minutes - ${free}) + 59) // 60`), (minutes: number) =>
        Math.min(cap, hoursOf(minutes) * cost),
      ),
      wrong: [
        program(
          body(`(max(0, minutes - ${free}) + 59) // 60`, false),
          (minutes: number) => hoursOf(minutes) * cost,
        ),
        program(body(`max(0, minutes - ${free}) // 60`), (minutes: number) =>
          Math.min(cap, Math.floor(Math.max(0, minutes - free) / 60) * cost),
        ),
        program(body('(minutes + 59) // 60'), (minutes: number) =>
          Math.min(cap, Math.ceil(minutes / 60) * cost),
        ),
      ],
    }
  },
  (draw) => {
    const [first, second] = draw.integers(2, 1, 9) as [number, number]
    const [p, q] = [draw.integer(2, 5), draw.integer(2, 5)]
    const modulus = draw.pick([97, 101, 113, 127, 151, 199])
    const body = (rounds: string, swap = false, start = [first, second]) =>
      `a, b = ${start[0]}, ${start[1]}\nfor _ in range(${rounds}):\n    a, b = b, (${swap ? q : p} * b + ${swap ? p : q} * a) % ${modulus}\nreturn a`
    const term = (rounds: number, [x, y]: [number, number], factors: [number, number]) => {
      let [a, b] = [x, y]
      for (let round = 0; round < rounds; round += 1)
        [a, b] = [b, (factors[0] * b + factors[1] * a) % modulus]
      return a
    }
    return {
      entryPoint: 'sequence_term',
      parameters: ['n: int'],
      returns: 'int',
      statement: `that returns the n-th term of a sequence (n is at least 1). The first term is ${first}, the second is ${second}, and each further one is ${p} times the term before it plus ${q} times the one before that, taken modulo ${modulus}.`,
      input: (d) => [d.integer(1, d.pick([4, 25]))],
      right: program(body('n - 1'), (n: number) => term(n - 1, [first, second], [p, q])),
      wrong: [
        program(body('n'), (n: number) => term(n, [first, second], [p, q])),
        ...(p === q
          ? []
          : [program(body('n - 1', true), (n: number) => term(n - 1, [first, second], [q, p]))]),
        program(body('n - 1', false, [second, first]), (n: number) => term(n - 1, [second, first], [p, q])),
      ],
    }
  },
  (draw) => {
    const [above, factor] = [draw.integer(1, 12), draw.integer(2, 9)]
    const count = (number: number, fits: (d: number) => boolean) =>
      range(number + 1).filter((d) => d > 0 && number % d === 0 && fits(d)).length
    const body = (condition: string, end = 'number + 1') =>
      `return sum(1 for d in range(1, ${end}) if number % d == 0 and ${condition})`
    const condition = `d > ${above} and d % ${factor} != 0`
    const right = (d: number) => d > above && d % factor !== 0
    return {
      entryPoint: 'count_divisors',
      parameters: ['number: int'],
      returns: 'int',
      statement: `that returns how many divisors of the positive integer \`number\` are greater than ${above} and are not themselves divisible by ${factor}. The number itself is one of its divisors.`,
      input: (d) => [
        d.pick([
          d.integer(1, 60),
          d.integer(1, 9) * d.integer(2, 12) * d.integer(2, 8),
          above * d.integer(1, 30),
        ]),
      ],
      right: program(body(condition), (number: number) => count(number, right)),
      wrong: [
        program(body(condition, 'number'), (number: number) => count(number, (d) => right(d) && d < number)),
        program(body(`d > ${above}`), (number: number) => count(number, (d) => d > above)),
        program(body(`d >= ${above} and d % ${factor} != 0`), (number: number) =>
          count(number, (d) => d >= above && d % factor !== 0),
        ),
      ].filter((_, index) => index !== 2 || above % factor !== 0),
    }
  },
]
