import { createElement, type ReactNode } from 'react'
import type { SvgElement } from '../../../src/view/plots/svg.ts'

/** Renders a drawing. Its texts become text nodes, whatever they hold. */
export function SvgView({ of }: { readonly of: SvgElement }): ReactNode {
  return node(of)
}

const names: Readonly<Record<string, string>> = {
  class: 'className',
  'text-anchor': 'textAnchor',
  'fill-opacity': 'fillOpacity',
}

function node({ tag, attributes, children }: SvgElement): ReactNode {
  const given = Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [names[name] ?? name, value]),
  )
  return createElement(
    tag,
    given,
    ...children.map((child) => (typeof child === 'string' ? child : node(child))),
  )
}
