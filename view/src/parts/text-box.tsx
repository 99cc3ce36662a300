import type { ReactNode } from 'react'
import { visible } from '../text.ts'

interface GivenText {
  readonly of: string
  readonly isInline?: boolean
  readonly isProse?: boolean
}

/** Text from a model or a data set, shown as plain text. */
export function Text({ of, isInline = false, isProse = false }: GivenText): ReactNode {
  if (isInline) return <span className="given">{visible(of)}</span>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <pre className={isProse ? 'text-box given prose' : 'text-box given'} tabIndex={0}>
      {visible(of)}
    </pre>
  )
}
