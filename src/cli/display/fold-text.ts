/** Breaks a text between words so that no line is longer than `room` where words allow it; later lines begin with the indent. */
export function foldText(text: string, room: number, indent = ''): string {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && last.length + 1 + word.length > room) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join(`\n${indent}`)
}
