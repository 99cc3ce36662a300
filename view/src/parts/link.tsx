import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { goTo } from '../location.ts'

/** A link that changes the page without loading it anew; with a modifier key it is a link like any other. */
export function Link({ href, ...rest }: ComponentProps<'a'> & { readonly href: string }): ReactNode {
  const follow = (event: MouseEvent) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    event.preventDefault()
    goTo(href)
  }
  return <a href={href} onClick={follow} {...rest} />
}
