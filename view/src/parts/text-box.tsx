import type { ReactNode } from 'react'
import { visible } from '../text.ts'

interface GivenText {
  readonly of: string
  readonly isInline?: boolean
  readonly isProse?: boolean
}

/** What a model or a data set wrote: text, whatever it holds. */
export function Text({ of, isInline = false, isProse = false }: GivenText): ReactNode {
  if (isInline) return <span className="given">{visible(of)}</span>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <pre className={isProse ? 'text-box given prose' : 'text-box given'} tabIndex={0}>
      {visible(of)}
    </pre>
  )
}
