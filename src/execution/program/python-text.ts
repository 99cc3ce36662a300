// White space as Python's str methods see it; JavaScript's set differs by a few characters.

function isSpace(code: number): boolean {
  return (
    (code >= 0x09 && code <= 0x0d) ||
    (code >= 0x1c && code <= 0x20) ||
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
export function strip(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start += 1
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** `text.split()` */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let start = -1
  for (let at = 0; at <= text.length; at += 1) {
    const inWord = at < text.length && !isSpace(text.charCodeAt(at))
    if (inWord && start < 0) start = at
    if (!inWord && start >= 0) {
      words.push(text.slice(start, at))
      start = -1
    }
  }
  return words
}
