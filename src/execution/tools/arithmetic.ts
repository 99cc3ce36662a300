// Arithmetic expressions: numbers, + - * / % ^, parentheses and a list of functions. Nothing has a name but functions,
// so there is nothing to look up, and evaluation is one pass over the text.

/** What is wrong with an expression, for the one who wrote it. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}

export const longestExpression = 1000
const deepestNesting = 64

type Operation = (...values: number[]) => number

/** Each with the least and the largest number of its arguments. */
const functions: ReadonlyMap<string, readonly [Operation, number, number]> = new Map<
  string,
  readonly [Operation, number, number]
>([
  ['abs', [Math.abs, 1, 1]],
  ['sqrt', [Math.sqrt, 1, 1]],
  ['exp', [Math.exp, 1, 1]],
  ['ln', [Math.log, 1, 1]],
  ['log10', [Math.log10, 1, 1]],
  ['log2', [Math.log2, 1, 1]],
  ['sin', [Math.sin, 1, 1]],
  ['cos', [Math.cos, 1, 1]],
  ['tan', [Math.tan, 1, 1]],
  ['floor', [Math.floor, 1, 1]],
  ['ceil', [Math.ceil, 1, 1]],
  ['round', [roundTo, 1, 2]],
  ['min', [Math.min, 1, 100]],
  ['max', [Math.max, 1, 100]],
])

export const functionNames: readonly string[] = [...functions.keys()]

/** Throws `ExpressionError`; the result is always a finite number. */
export function evaluateExpression(text: string): number {
  if (text.length > longestExpression) {
    throw new ExpressionError(
      `The expression has ${text.length} characters, ${longestExpression} are allowed.`,
    )
  }
  const value = new Reader(text).whole()
  if (!Number.isFinite(value)) throw new ExpressionError('The result is not a finite number.')
  return value === 0 ? 0 : value
}

const number = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const name = /[A-Za-z][A-Za-z0-9]*/y

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): number {
    const value = this.#sum()
    if (this.#next() !== undefined) this.#unexpected()
    return value
  }

  #sum(): number {
    let value = this.#product()
    for (;;) {
      if (this.#takes('+')) value += this.#product()
      else if (this.#takes('-')) value -= this.#product()
      else return value
    }
  }

  #product(): number {
    let value = this.#signed()
    for (;;) {
      if (this.#takes('*')) value *= this.#signed()
      else if (this.#takes('/')) value /= this.#divisor()
      else if (this.#takes('%')) value %= this.#divisor()
      else return value
    }
  }

  #divisor(): number {
    const value = this.#signed()
    if (value === 0) throw new ExpressionError('Division by zero.')
    return value
  }

  /** A sign binds less than a power: -2^2 is -4. */
  #signed(): number {
    let negative = false
    for (;;) {
      if (this.#takes('-')) negative = !negative
      else if (!this.#takes('+')) break
    }
    const value = this.#power()
    return negative ? -value : value
  }

  /** From right to left: 2^3^2 is 2^9. */
  #power(): number {
    const base = this.#primary()
    return this.#takes('^') ? base ** this.#nested(() => this.#signed()) : base
  }

  #primary(): number {
    if (this.#takes('(')) {
      const value = this.#nested(() => this.#sum())
      this.#expect(')')
      return value
    }
    this.#next()
    const literal = this.#match(number)
    if (literal !== undefined) return Number(literal)
    const word = this.#match(name)
    if (word === undefined) return this.#unexpected()
    return this.#call(word)
  }

  #call(word: string): number {
    const known = functions.get(word)
    if (known === undefined) {
      throw new ExpressionError(`'${word}' is not known here. Functions: ${functionNames.join(', ')}.`)
    }
    const [operation, least, most] = known
    this.#expect('(')
    const values = [this.#nested(() => this.#sum())]
    while (this.#takes(',')) values.push(this.#nested(() => this.#sum()))
    this.#expect(')')
    if (values.length < least || values.length > most) {
      throw new ExpressionError(`${word} does not take ${values.length} arguments.`)
    }
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

  #next(): string | undefined {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'x')) this.#at += 1
    return this.#text[this.#at]
  }

  #takes(mark: string): boolean {
    if (this.#next() !== mark) return false
    this.#at += 1
    return true
  }

  #expect(mark: string): void {
    if (!this.#takes(mark)) this.#unexpected(mark)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  #unexpected(wanted?: string): never {
    const found = this.#next()
    const what =
      found === undefined ? 'The expression ends too early' : `Unexpected '${found}' at position ${this.#at}`
    throw new ExpressionError(`${what}${wanted === undefined ? '.' : `; '${wanted}' was expected.`}`)
  }
}

/** To so many decimals, halves away from zero, on the number as it is written: 1.005 to two decimals is 1.01. */
function roundTo(value: number, decimals = 0): number {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 12) {
    throw new ExpressionError('round takes 0 to 12 decimals.')
  }
  // The text of a number this large has an exponent already, and it has no decimals.
  if (Math.abs(value) >= 1e21) return value
  const [digits, exponent = '0'] = Math.abs(value).toString().split('e') as [string, string?]
  const scaled = Math.round(Number(`${digits}e${Number(exponent) + decimals}`))
  return Math.sign(value) * Number(`${scaled}e-${decimals}`)
}
