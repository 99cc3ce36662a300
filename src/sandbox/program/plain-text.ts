import { pythonFloatText } from '../../python/float.ts'
import type { PlainValue } from '../../python/plain-value.ts'

const longest = 4000
const brackets = { list: '[]', tuple: '()', set: '{}', frozenset: '{}' } as const

/** Roughly Python's `repr`, truncated: for people and models to read, not for comparison. */
export function plainText(value: PlainValue): string {
  switch (value.kind) {
    case 'none':
      return 'None'
    case 'bool':
      return value.value ? 'True' : 'False'
    case 'int':
      // Converting a huge integer to digits takes very long.
      return value.value.toString(16).length > longest ? '<very large int>' : value.value.toString()
    case 'float':
      return pythonFloatText(value.value)
    case 'complex':
      return `complex(${pythonFloatText(value.real)}, ${pythonFloatText(value.imaginary)})`
    case 'str':
      return JSON.stringify(value.value.slice(0, longest))
    case 'bytes':
      return `bytes.fromhex('${value.hex.slice(0, longest)}')`
    case 'decimal':
      return `Decimal('${value.text.slice(0, longest)}')`
    case 'fraction':
      return `Fraction(${plainText({ kind: 'int', value: value.numerator })}, ${plainText({ kind: 'int', value: value.denominator })})`
    case 'opaque':
      return `<${value.type}>`
    case 'dict':
      return `{${join(value.entries, ([key, entry]) => `${plainText(key)}: ${plainText(entry)}`)}}`
    default: {
      const [open, close] = brackets[value.kind]
      return `${open}${join(value.items, plainText)}${close}`
    }
  }
}

function join<T>(parts: readonly T[], text: (part: T) => string): string {
  let joined = ''
  for (const [index, part] of parts.entries()) {
    if (joined.length > longest) return `${joined}, …`
    joined += index === 0 ? text(part) : `, ${text(part)}`
  }
  return joined
}
