import { z } from 'zod'
import { type Tool, toolError } from './tool.ts'

// Arithmetic expressions: numbers, + - * / % ^, parentheses and a list of functions. There are no variables, and
// evaluation is one pass over the text.

/** Tells the author of an expression what is wrong with it. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}

export const longestExpression = 1000
const deepestNesting = 64

type Operation = (...values: number[]) => number

/** Each takes one value, unless listed in `mostValues`. */
const functions: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['abs', Math.abs],
  ['sqrt', Math.sqrt],
  ['exp', Math.exp],
  ['ln', Math.log],
  ['log10', Math.log10],
  ['log2', Math.log2],
  ['sin', Math.sin],
  ['cos', Math.cos],
  ['tan', Math.tan],
  ['floor', Math.floor],
  ['ceil', Math.ceil],
  ['round', roundTo],
  ['min', Math.min],
  ['max', Math.max],
])
const mostValues: Readonly<Record<string, number>> = { round: 2, min: 100, max: 100 }

export const functionNames: readonly string[] = [...functions.keys()]

/** Left-associative operators with their precedence. */
const operators: ReadonlyMap<string, readonly [number, Operation]> = new Map<string, [number, Operation]>([
  ['+', [1, (a, b) => a! + b!]],
  ['-', [1, (a, b) => a! - b!]],
  ['*', [2, (a, b) => a! * b!]],
  ['/', [2, (a, b) => a! / divisor(b!)]],
  ['%', [2, (a, b) => a! % divisor(b!)]],
])

function divisor(value: number): number {
  if (value === 0) throw new ExpressionError('Division by zero.')
  return value
}

/** Throws `ExpressionError`; the result is always a finite number. */
export function evaluateExpression(text: string): number {
  if (text.length > longestExpression)
    throw new ExpressionError(
      `The expression has ${text.length} characters, ${longestExpression} are allowed.`,
    )
  const value = new Reader(text).whole()
  if (!Number.isFinite(value)) throw new ExpressionError('The result is not a finite number.')
  return value === 0 ? 0 : value
}

const tokens = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[A-Za-z][A-Za-z0-9]*|[^ \t\n\r]/g

class Reader {
  readonly #tokens: readonly RegExpExecArray[]
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#tokens = [...text.matchAll(tokens)]
  }

  whole(): number {
    const value = this.#terms()
    return this.#at === this.#tokens.length ? value : this.#unexpected()
  }

  /** Terms joined by operators of at least this precedence. */
  #terms(least = 1): number {
    let value = this.#signed()
    for (;;) {
      const operator = operators.get(this.#next)
      if (operator === undefined || operator[0] < least) return value
      const [binds, apply] = operator
      this.#at += 1
      value = apply(value, this.#terms(binds + 1))
    }
  }

  /** A sign binds less tightly than a power: -2^2 is -4. */
  #signed(): number {
    let sign = 1
    for (; this.#next === '-' || this.#next === '+'; this.#at += 1) if (this.#next === '-') sign = -sign
    return sign * this.#power()
  }

  /** Right-associative: 2^3^2 is 2^9. */
  #power(): number {
    const base = this.#primary()
    return this.#takes('^') ? base ** this.#nested(() => this.#signed()) : base
  }

  #primary(): number {
    if (this.#takes('(')) {
      const value = this.#nested(() => this.#terms())
      this.#expect(')')
      return value
    }
    const token = this.#next
    if (!/[A-Za-z\d]/.test(token)) return this.#unexpected()
    this.#at += 1
    return /^[A-Za-z]/.test(token) ? this.#call(token) : Number(token)
  }

  #call(word: string): number {
    const operation = functions.get(word)
    if (operation === undefined)
      throw new ExpressionError(`'${word}' is not known here. Functions: ${functionNames.join(', ')}.`)
    this.#expect('(')
    const values = [this.#nested(() => this.#terms())]
    while (this.#takes(',')) values.push(this.#nested(() => this.#terms()))
    this.#expect(')')
    if (values.length > (mostValues[word] ?? 1))
      throw new ExpressionError(`${word} does not take ${values.length} arguments.`)
    return operation(...values)
  }

  #nested(read: () => number): number {
    this.#depth += 1
    if (this.#depth > deepestNesting)
      throw new ExpressionError(`More than ${deepestNesting} levels of nesting.`)
    const value = read()
    this.#depth -= 1
    return value
  }

  /** Empty at the end. */
  get #next(): string {
    return this.#tokens[this.#at]?.[0] ?? ''
  }

  #takes(mark: string): boolean {
    if (this.#next !== mark) return false
    this.#at += 1
    return true
  }

  #expect(mark: string): void {
    if (!this.#takes(mark)) this.#unexpected(mark)
  }

  #unexpected(wanted?: string): never {
    const found = this.#tokens[this.#at]
    const what =
      found === undefined
        ? 'The expression ends too early'
        : `Unexpected '${found[0][0]}' at position ${found.index}`
    throw new ExpressionError(`${what}${wanted === undefined ? '.' : `; '${wanted}' was expected.`}`)
  }
}

/** Rounds half away from zero, in decimal notation: 1.005 to two decimals is 1.01. */
function roundTo(value: number, decimals = 0): number {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 12)
    throw new ExpressionError('round takes 0 to 12 decimals.')
  // Numbers this large have no decimals, and are written with an exponent.
  if (Math.abs(value) >= 1e21) return value
  const [digits, exponent = '0'] = Math.abs(value).toString().split('e') as [string, string?]
  const scaled = Math.round(Number(`${digits}e${Number(exponent) + decimals}`))
  return Math.sign(value) * Number(`${scaled}e-${decimals}`)
}

const payload = z.object({ expression: z.string() })

export const calculator: Tool<z.infer<typeof payload>> = {
  name: 'calculator',
  description:
    'calculator evaluates one arithmetic expression: {"expression": "(120 - 100) / 100 * 100"}. It knows numbers, ' +
    `+ - * / % ^, parentheses and ${functionNames.join(', ')}; % is the remainder and ^ the power.`,
  payload,
  async run({ expression }) {
    try {
      return { status: 'ok', result: { value: evaluateExpression(expression) } }
    } catch (problem) {
      if (problem instanceof ExpressionError) return toolError('bad_payload', problem.message)
      throw problem
    }
  },
}
