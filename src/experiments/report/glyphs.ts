// A 5×7 dot font for pictures without system fonts: rows from the top, each a base-32 digit with the leftmost dot as
// its highest bit. Letters with descenders have nine rows.
const rows: Readonly<Record<string, string>> = {
  ...{ '0': 'ehjlphe', '1': '4c4444e', '2': 'eh1248v', '3': 'v2421he', '4': '26aiv22', '5': 'vgu11he' },
  ...{ '6': '68guhhe', '7': 'v124888', '8': 'ehhehhe', '9': 'ehhf12c' },
  ...{ A: 'ehhvhhh', B: 'uhhuhhu', C: 'ehggghe', D: 'sihhhis', E: 'vgguggv', F: 'vgguggg', G: 'ehgnhhf' },
  ...{ H: 'hhhvhhh', I: 'e44444e', J: '72222ic', K: 'hikokih', L: 'ggggggv', M: 'hrllhhh', N: 'hhpljhh' },
  ...{ O: 'ehhhhhe', P: 'uhhuggg', Q: 'ehhhlid', R: 'uhhukih', S: 'fgge11u', T: 'v444444', U: 'hhhhhhe' },
  ...{ V: 'hhhhha4', W: 'hhhllla', X: 'hha4ahh', Y: 'hhha444', Z: 'v1248gv' },
  ...{ a: '00e1fhf', b: 'ggmphhu', c: '00egghe', d: '11djhhf', e: '00ehvge', f: '698s888', g: '00fhhhf1e' },
  ...{ h: 'ggmphhh', i: '40c444e', j: '2062222ic', k: 'ggikoki', l: 'c44444e', m: '00qllhh', n: '00mphhh' },
  ...{ o: '00ehhhe', p: '00uhhhugg', q: '00fhhhf11', r: '00mpggg', s: '00ege1u', t: '88s8896', u: '00hhhjd' },
  ...{ v: '00hhha4', w: '00hhlla', x: '00ha4ah', y: '00hhhhf1e', z: '00v248v' },
  ...{ '.': '00000cc', ',': '0000c48', '-': '000v000', '–': '000v000', '−': '000v000', '+': '044v440' },
  ...{ '%': 'op248j3', '(': '2488842', ')': '8422248', '[': 'e88888e', ']': 'e22222e', '/': '01248g0' },
  ...{ '@': 'ehnlnge', "'": '4400000', '!': '4444404', '?': 'eh12404', '#': 'aavavaa', '&': '8k8kmid' },
  ...{ '*': '04lel40', '<': '0248420', '>': '0842480', '|': '4444444', ';': '0cc0c48' },
  ...{ ':': '0cc0cc0', '^': '4ah0000', '×': '0ha4ah0', '=': '00v0v00', _: '000000v', ' ': '0000000' },
}

/** Unknown letters are shown as an empty box. */
const unknown = 'vhhhhhv'

export const glyph = { width: 5, height: 7, below: 2, advance: 6 } as const

/** Whether a letter has a dot at this position. */
export function hasDot(letter: string, column: number, row: number): boolean {
  const bits = Number.parseInt((rows[letter] ?? unknown)[row] ?? '0', 32)
  return ((bits >> (glyph.width - 1 - column)) & 1) === 1
}
