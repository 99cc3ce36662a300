/** Control characters other than line feed and tab; they could manipulate the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Makes text safe to show by escaping control characters other than line feed and tab. */
export function printable(text: string): string {
  return text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Indented JSON with control characters escaped, which JSON allows everywhere. */
export function jsonText(value: unknown): string {
  return printable(JSON.stringify(value, null, 2))
}

/** `1 call`, `2 calls`, `2 retries`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}
