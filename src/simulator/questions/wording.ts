/** `a, b and c`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

/** With its article, by the first letter, so not for `hour` or `unit`. */
export function one(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A text with its `{places}` filled in; `{Place}` is capitalised. */
export function filled(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) =>
    name in values ? String(values[name]) : capital(String(values[name.toLowerCase()])),
  )
}

/** The entries of a text such as `apple, pear, plum`. */
export function entries(text: string): string[] {
  return text.trim().split(/,\s+/)
}

/** The rows of a text such as `Norway/Oslo, Sweden/Stockholm`. */
export function cells(text: string): string[][] {
  return entries(text).map((row) => row.split('/'))
}
