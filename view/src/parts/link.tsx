import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { goTo } from '../location.ts'

/** A link within the app, without a reload. With a modifier key it acts like any other link. */
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
