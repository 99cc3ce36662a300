/**
 * Makes text safe to show on one line: control characters (line breaks, terminal escapes), marks that reverse the
 * reading direction and lone surrogates are spelled out. Notations still escape their own special characters.
 */
export function visibleText(text: string): string {
  const spelled = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return codePoint(character)
  })
  return spelled.trim() === '' ? '(no name)' : spelled
}

/** One ASCII character per sign of our drawings, so that they stay aligned. */
const drawnSigns = '│─╸–·└┘┌┐├┤┬┴╤╔╗╝╚║█▉▊▋▌▍▎▏━═╭╮╯╰▼✓✗×→▸■●○…▁▂▃▄▅▆▇'
const plainSigns = "|----+++++++++##############=..''vvxx>>!*o._.:-=+*"
const asciiSigns = new Map([...drawnSigns].map((sign, index) => [sign, plainSigns[index]!]))

/** Converts one of our drawings to ASCII. Foreign text must be ASCII already: see `asciiText`. */
export function asciiDrawing(drawing: string): string {
  return drawing.replace(/[^ -~]/gu, (sign) => asciiSigns.get(sign) ?? (isBraille(sign) ? '*' : sign))
}

function isBraille(sign: string): boolean {
  return sign > '\u2800' && sign <= '\u28ff'
}

const asciiWords = new Map([
  ['¥', 'CNY '],
  ['€', 'EUR '],
  ['£', 'GBP '],
  ['…', '...'],
  ['→', '->'],
  ['±', '+-'],
])

/** Visible text in ASCII; characters without an equivalent are spelled out. */
export function asciiText(visible: string): string {
  return visible.replace(
    /[^ -~]/gu,
    (character) => asciiWords.get(character) ?? asciiSigns.get(character) ?? codePoint(character),
  )
}

function codePoint(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}
