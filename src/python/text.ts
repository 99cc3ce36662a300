// Python's way with text, where JavaScript's differs: which characters are white space, and which digits are digits.

/** `str.isspace()`: has U+001C to U+001F and U+0085, which JavaScript does not count, and lacks its U+FEFF. */
export function isPythonSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 9 && code <= 13) || code >= 0x1c
  if (code < 0x80) return false
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  )
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
  const words: string[] = []
  let start = -1
  for (let i = 0; i <= text.length; i += 1) {
    const space = i === text.length || isPythonSpace(text.charCodeAt(i))
    if (space && start !== -1) {
      words.push(text.slice(start, i))
      start = -1
    } else if (!space && start === -1) start = i
  }
  return words
}

/** The zeros of Unicode 14, that of Python 3.11: each is followed by its script's 1 to 9. */
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

/** Writes the decimal digits of every script as 0 to 9, which is how Python's `float`, `int` and `\d` see them. */
export function asciiDigits(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range begins with them
  if (/^[\x00-\x7f]*$/.test(text)) return text
  return text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0)!
    const zero = zeros.findLast((candidate) => candidate <= code)!
    return code - zero < 10 ? String(code - zero) : digit
  })
}
