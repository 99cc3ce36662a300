// Where Python's numbers differ from JavaScript's: text of a float, `round(x, n)` and '%.nf'. The official scorers
// are written in Python, and a cent's difference is a wrong answer.

/** `repr(x)` of a float: 2019.0, 1e-05, 1e+16, inf. */
export function pythonFloatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (Object.is(value, -0)) return '-0.0'
  const magnitude = Math.abs(value)
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
    // JavaScript writes 1e-7 and below with an exponent, Python 9.9e-5 and below; in this range neither does.
    const text = String(value)
    return Number.isInteger(value) ? `${text}.0` : text
  }
  const [digits, exponent] = value.toExponential().split('e') as [string, string]
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
}

/** `str(json.loads(source))` of a JSON number: whole numbers keep all their digits, others are floats. */
export function pythonNumberText(source: string): string {
  return /^-?[0-9]+$/.test(source) ? BigInt(source).toString() : pythonFloatText(Number(source))
}

/** `'%.{digits}f' % x`: the double's exact value, ties to even. */
export function pythonFixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return pythonFloatText(value)
  if (value < 0 || Object.is(value, -0)) return `-${pythonFixed(-value, digits)}`
  if (value < 1e15 && Number.isInteger(value)) return `${value}${zeroDecimals(digits)}`
  // toFixed also uses the exact value, but rounds ties up, and switches to exponents at 1e21.
  if (value >= 1e21) return `${BigInt(value)}${zeroDecimals(digits)}`
  return isTie(value, digits) ? halfToEven(value, digits) : value.toFixed(digits)
}

function zeroDecimals(digits: number): string {
  return digits === 0 ? '' : `.${'0'.repeat(digits)}`
}

/** `round(x, digits)` of a float: the double nearest to the decimal that `pythonFixed` writes. */
export function pythonRound(value: number, digits: number): number {
  // From 2^52 on every double is an integer; this also passes infinity through.
  return Math.abs(value) < 2 ** 52 ? Number(pythonFixed(value, digits)) : value
}

/** `numpy.round(x, digits)` for small values: multiply, round ties to even, divide. Not the same as Python's. */
export function numpyRound(value: number, digits: number): number {
  const power = 10 ** digits
  const scaled = value * power
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0)
  return (up ? floor + 1 : floor) / power
}

/**
 * A double lies exactly between two decimals of `digits` places if and only if it is an odd multiple of
 * 2^-(digits+1): x·10^d = n + 1/2 means x·2^(d+1)·5^d = 2n + 1, and a double has no factor 1/5.
 */
function isTie(value: number, digits: number): boolean {
  const scaled = value * 2 ** (digits + 1)
  return Math.abs(scaled % 2) === 1
}

function halfToEven(value: number, digits: number): string {
  const odd = BigInt(value * 2 ** (digits + 1)) * 5n ** BigInt(digits) // 2n + 1
  const below = odd >> 1n
  const chosen = (below & 1n) === 0n ? below : below + 1n
  const text = chosen.toString().padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}
