import { erf } from '../erf.ts'
import { constant, derived, type Value } from './value.ts'

/** Wx (+ b) for a row-major matrix W of `input.length` columns. */
export function linear(weight: Value, input: Value, bias?: Value): Value {
  const columns = input.length
  const rows = weight.length / columns
  if (!Number.isInteger(rows))
    throw new RangeError(`${weight.length} weights do not make rows of ${columns}.`)
  if (bias !== undefined) assertSameLength('bias', bias.length, rows)
  const w = weight.data
  const x = input.data
  const data = bias === undefined ? new Float64Array(rows) : bias.data.slice()
  for (let row = 0, at = 0; row < rows; row += 1) {
    let sum = 0
    for (let column = 0; column < columns; column += 1, at += 1) sum += w[at]! * x[column]!
    data[row]! += sum
  }
  const sources = bias === undefined ? [weight, input] : [weight, input, bias]
  return derived(data, sources, (gradient) => {
    for (let row = 0; row < rows; row += 1) {
      const g = gradient[row]!
      if (weight.tracked) addScaled(weight.gradient, row * columns, x, 0, columns, g)
      if (input.tracked) addScaled(input.gradient, 0, w, row * columns, columns, g)
    }
    if (bias?.tracked) addScaled(bias.gradient, 0, gradient, 0, rows, 1)
  })
}

/** a + b + … entry by entry. */
export function add(...terms: [Value, ...Value[]]): Value {
  const data = new Float64Array(terms[0].length)
  for (const term of terms) {
    assertSameLength('term', term.length, data.length)
    addScaled(data, 0, term.data, 0, data.length, 1)
  }
  return derived(data, terms, (gradient) => {
    for (const term of terms) if (term.tracked) addScaled(term.gradient, 0, gradient, 0, data.length, 1)
  })
}

/** The vector times a fixed number. */
export function scale(vector: Value, factor: number): Value {
  return entrywise(
    vector,
    (x) => factor * x,
    () => factor,
  )
}

export function subtract(a: Value, b: Value): Value {
  return add(a, scale(b, -1))
}

/** a ⊙ b; either may be a scalar, which multiplies every entry of the other. */
export function multiply(a: Value, b: Value): Value {
  const length = Math.max(a.length, b.length)
  for (const factor of [a, b]) if (factor.length !== 1) assertSameLength('factor', factor.length, length)
  const data = new Float64Array(length)
  for (let i = 0; i < length; i += 1) data[i] = at(a, i) * at(b, i)
  return derived(data, [a, b], (gradient) => {
    for (let i = 0; i < length; i += 1) {
      if (a.tracked) a.gradient[a.length === 1 ? 0 : i]! += gradient[i]! * at(b, i)
      if (b.tracked) b.gradient[b.length === 1 ? 0 : i]! += gradient[i]! * at(a, i)
    }
  })
}

/** [a; b; …] */
export function concat(...parts: readonly Value[]): Value {
  const data = new Float64Array(parts.reduce((length, part) => length + part.length, 0))
  eachPart(parts, (part, start) => data.set(part.data, start))
  return derived(data, parts, (gradient) => {
    eachPart(parts, (part, start) => {
      if (part.tracked) addScaled(part.gradient, 0, gradient, start, part.length, 1)
    })
  })
}

/** `length` entries from `start`: a gate of the GRU, a row of an embedding table. */
export function slice(vector: Value, start: number, length: number): Value {
  if (start < 0 || start + length > vector.length) {
    throw new RangeError(`Entries ${start} to ${start + length} lie outside a vector of ${vector.length}.`)
  }
  return derived(vector.data.slice(start, start + length), [vector], (gradient) => {
    addScaled(vector.gradient, start, gradient, 0, length, 1)
  })
}

/** Σ of the entries. */
export function sum(vector: Value): Value {
  const total = vector.data.reduce((running, x) => running + x, 0)
  return derived(Float64Array.of(total), [vector], (gradient) => {
    for (let i = 0; i < vector.length; i += 1) vector.gradient[i]! += gradient[0]!
  })
}

/** aᵀb */
export function dotProduct(a: Value, b: Value): Value {
  assertSameLength('second vector', b.length, a.length)
  return sum(multiply(a, b))
}

export function sigmoid(vector: Value): Value {
  return entrywise(vector, logistic, (_, y) => y * (1 - y))
}

export function tanh(vector: Value): Value {
  return entrywise(vector, Math.tanh, (_, y) => 1 - y * y)
}

export function exp(vector: Value): Value {
  return entrywise(vector, Math.exp, (_, y) => y)
}

/** log σ(x), finite for every finite x: σ itself underflows. */
export function logSigmoid(vector: Value): Value {
  return entrywise(
    vector,
    (x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x))),
    (x) => logistic(-x),
  )
}

/** The exact GELU, x · P(X ≤ x) for a standard normal X. */
export function gelu(vector: Value): Value {
  const belowOrAt = (x: number) => (1 + erf(x / Math.SQRT2)) / 2
  const density = (x: number) => Math.exp(-(x * x) / 2) / Math.sqrt(2 * Math.PI)
  return entrywise(
    vector,
    (x) => x * belowOrAt(x),
    (x) => belowOrAt(x) + x * density(x),
  )
}

/** Zero mean, unit (population) variance, then a learned scale and shift. */
export function layerNorm(vector: Value, weight: Value, bias: Value, epsilon = 1e-5): Value {
  const n = vector.length
  assertSameLength('weight', weight.length, n)
  const mean = multiply(scale(sum(vector), 1 / n), constant(new Float64Array(n).fill(1)))
  const centred = subtract(vector, mean)
  const inverse = entrywise(
    scale(dotProduct(centred, centred), 1 / n),
    (variance) => 1 / Math.sqrt(variance + epsilon),
    (_, y) => -(y ** 3) / 2,
  )
  return add(multiply(multiply(inverse, centred), weight), bias)
}

/** log softmax, shifted by the largest entry so that nothing overflows. Masked choices are not in the vector. */
export function logSoftmax(vector: Value): Value {
  const largest = vector.data.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const logTotal = Math.log(vector.data.reduce((total, x) => total + Math.exp(x - largest), 0))
  const data = vector.data.map((x) => x - largest - logTotal)
  return derived(data, [vector], (gradient) => {
    const total = gradient.reduce((running, g) => running + g, 0)
    for (let i = 0; i < data.length; i += 1) vector.gradient[i]! += gradient[i]! - Math.exp(data[i]!) * total
  })
}

export function softmax(vector: Value): Value {
  return exp(logSoftmax(vector))
}

function entrywise(vector: Value, f: (x: number) => number, slope: (x: number, y: number) => number): Value {
  const data = vector.data.map(f)
  return derived(data, [vector], (gradient) => {
    for (let i = 0; i < data.length; i += 1) {
      vector.gradient[i]! += gradient[i]! * slope(vector.data[i]!, data[i]!)
    }
  })
}

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

/** The i-th entry, or the only one of a scalar. */
function at({ data }: Value, i: number): number {
  return data[data.length === 1 ? 0 : i]!
}

function eachPart(parts: readonly Value[], visit: (part: Value, start: number) => void): void {
  let start = 0
  for (const part of parts) {
    visit(part, start)
    start += part.length
  }
}

function addScaled(
  target: Float64Array,
  targetStart: number,
  source: Float64Array,
  sourceStart: number,
  length: number,
  factor: number,
): void {
  for (let i = 0; i < length; i += 1) target[targetStart + i]! += factor * source[sourceStart + i]!
}

function assertSameLength(what: string, got: number, wanted: number): void {
  if (got !== wanted) throw new RangeError(`The ${what} has ${got} entries where ${wanted} are needed.`)
}
