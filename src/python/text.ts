// Where Python's text differs from JavaScript's: white space and digits.

/** As in `str.isspace()`: includes U+001C to U+001F and U+0085, unlike JavaScript, but not U+FEFF. */
const spaces =
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a' +
  '\u2028\u2029\u202f\u205f\u3000'
const isSpace = new Uint8Array(0x3001)
for (const space of spaces) isSpace[space.charCodeAt(0)] = 1
const spaceRun = new RegExp(`[${spaces}]+`)

export function isPythonSpace(code: number): boolean {
  return isSpace[code] === 1
}

/** `text.strip()` */
export function pythonStrip(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isPythonSpace(text.charCodeAt(start))) start += 1
  while (end > start && isPythonSpace(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** `text.split()` */
export function pythonSplit(text: string): string[] {
  return text.split(spaceRun).filter((word) => word !== '')
}

/** The zeros of Unicode 14 (Python 3.11); each is followed by its script's 1 to 9. */
const zeros = Uint32Array.from(
  (
    '0030 0660 06f0 07c0 0966 09e6 0a66 0ae6 0b66 0be6 0c66 0ce6 0d66 0de6 0e50 0ed0 0f20 1040 1090 17e0 1810 1946 ' +
    '19d0 1a80 1a90 1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 11066 110f0 11136 111d0 ' +
    '112f0 11450 114d0 11650 116c0 11730 118e0 11950 11c50 11d50 11da0 16a60 16ac0 16b50 1d7ce 1d7d8 1d7e2 1d7ec ' +
    '1d7f6 1e140 1e2f0 1e950 1fbf0'
  )
    .split(' ')
    .map((hex) => Number.parseInt(hex, 16)),
)

/** Converts decimal digits of every script to 0 to 9, as Python's `float`, `int` and `\d` see them. */
export function asciiDigits(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range begins with them
  if (/^[\x00-\x7f]*$/.test(text)) return text
  return text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0)!
    const zero = zeros.findLast((candidate) => candidate <= code)!
    return code - zero < 10 ? String(code - zero) : digit
  })
}
