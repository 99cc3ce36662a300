import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluateExpression, longestExpression } from './calculator.ts'

describe('arithmetic', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['-2^2', -4],
    ['(-2)^2', 4],
    ['2^3^2', 512],
    ['2^-1', 0.5],
    ['--3', 3],
    ['- -3 - -3', 6],
    ['7 % 4 * 2', 6],
    ['-7 % 4', -3],
    ['1.5e3 + .5', 1500.5],
    ['12. / 4', 3],
    ['max(1, 2, min(9, 3))', 3],
    ['round(2.5) + round(-2.5)', 0],
    ['round(1.005, 2)', 1.01],
    ['round(1e-9, 2)', 0],
    ['round(1e300)', 1e300],
    ['sqrt(2) ^ 2 - 2', Math.sqrt(2) ** 2 - 2],
    ['ln(exp(1))', 1],
    ['(120 - 100) / 100 * 100', 20],
    ['0 * -1', 0],
  ])('%s = %d', (expression, value) => expect(evaluateExpression(expression)).toBe(value))

  test.each([
    ['', 'The expression ends too early.'],
    ['1 +', 'The expression ends too early.'],
    ['(1', "The expression ends too early; ')' was expected."],
    ['1 2', "Unexpected '2' at position 2."],
    ['1 ** 2', "Unexpected '*' at position 3."],
    ['pi', "'pi' is not known here."],
    ['constructor(1)', "'constructor' is not known here."],
    ['abs.constructor', "Unexpected '.' at position 3; '(' was expected."],
    ['toString()', "'toString' is not known here."],
    ['abs()', "Unexpected ')' at position 4."],
    ['abs(1, 2)', 'abs does not take 2 arguments.'],
    ['round(1, 13)', 'round takes 0 to 12 decimals.'],
    ['1 / 0', 'Division by zero.'],
    ['5 % (1 - 1)', 'Division by zero.'],
    ['9^9^9', 'The result is not a finite number.'],
    ['sqrt(-1)', 'The result is not a finite number.'],
    ['1 = 1', "Unexpected '=' at position 2."],
    ['1;2', "Unexpected ';' at position 1."],
    ['２', "Unexpected '２' at position 0."],
    [`${'('.repeat(65)}1${')'.repeat(65)}`, 'More than 64 levels of nesting.'],
    [`1${'^1'.repeat(65)}`, 'More than 64 levels of nesting.'],
    ['1'.repeat(longestExpression + 1), 'The expression has 1001 characters'],
  ])('%s is refused: %s', (expression, message) =>
    expect(() => evaluateExpression(expression)).toThrow(message),
  )

  /** An expression and its JavaScript form, which needs parentheses around a signed base. */
  const pair: fc.Arbitrary<[ours: string, theirs: string]> = fc.letrec<{ tree: [string, string] }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc
        .oneof(fc.nat(1000), fc.double({ min: 0, max: 1e6, noNaN: true }))
        .map((n) => [`${n}`, `${n}`] as [string, string]),
      fc
        .tuple(tie('tree'), fc.constantFrom('+', '-', '*', '/', '%', '^'), tie('tree'))
        .map(([[a, x], operator, [b, y]]): [string, string] => [
          `(${a} ${operator} ${b})`,
          `((${x}) ${operator === '^' ? '**' : operator} (${y}))`,
        ]),
      tie('tree').map(([a, x]): [string, string] => [`(-${a})`, `(-(${x}))`]),
      fc
        .tuple(fc.constantFrom('abs', 'floor', 'ceil', 'sqrt'), tie('tree'))
        .map(([name, [a, x]]): [string, string] => [`${name}(${a})`, `Math.${name}(${x})`]),
    ),
  })).tree

  test('agrees with JavaScript on generated expressions', () => {
    let compared = 0
    fc.assert(
      fc.property(pair, ([ours, theirs]) => {
        fc.pre(ours.length <= longestExpression)
        const expected = Number(new Function(`return ${theirs}`)())
        let value: number | undefined
        try {
          value = evaluateExpression(ours)
        } catch {
          // Ours refuses any division by zero; JavaScript may return from infinity, as in 1 / (1 / 0).
          return
        }
        compared += 1
        expect(value).toBe(expected === 0 ? 0 : expected)
      }),
      { numRuns: 2000 },
    )
    expect(compared).toBeGreaterThan(500)
  })

  test('operator precedence matches JavaScript', () => {
    const operand = fc.nat(50).map(String)
    const chain = fc.tuple(
      operand,
      fc.array(fc.tuple(fc.constantFrom('+', '-', '*', '/', '%', '^'), operand), { maxLength: 12 }),
    )
    fc.assert(
      fc.property(chain, ([first, rest]) => {
        const ours = first + rest.map(([operator, value]) => ` ${operator} ${value}`).join('')
        const expected = Number(new Function(`return ${ours.replaceAll('^', '**')}`)())
        fc.pre(Number.isFinite(expected) && !/[/%] 0/.test(ours))
        expect(evaluateExpression(ours)).toBe(expected === 0 ? 0 : expected)
      }),
      { numRuns: 1000 },
    )
  })

  test('answers or refuses any text without side effects', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789.eE+-*/%^(), abslogminx[]{}\'"`;=') }),
        (text) => {
          try {
            expect(Number.isFinite(evaluateExpression(text))).toBe(true)
          } catch (problem) {
            expect((problem as Error).name).toBe('ExpressionError')
          }
        },
      ),
      { numRuns: 3000 },
    )
  })
})
