import { hash } from 'node:crypto'

/** A text that many requests share, with a name for it: in a trace it is written once and then referred to. */
export interface Text {
  readonly key: string
  readonly text: string
}

/** Named by its content, so that it has the same name in every trace. */
export function namedText(text: string): Text {
  // Enough of a SHA-256 to tell texts of a run apart.
  return { key: hash('sha256', text, 'hex').slice(0, 16), text }
}
