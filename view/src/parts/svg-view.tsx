import { createElement, type ReactNode, useEffect, useRef, useState } from 'react'
import type { SvgElement } from '../../../src/view/plots/svg.ts'

/** Renders a drawing. All its texts become text nodes. */
export function SvgView({ of }: { readonly of: SvgElement }): ReactNode {
  return node(of)
}

/** Narrower than this a plot scrolls instead. */
const narrowest = 300

/** A plot drawn to the width of its container, so that its texts keep their size on any screen. */
export function FittedPlot({ draw }: { readonly draw: (width: number) => SvgElement }): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = place.current!
    const resized = new ResizeObserver(() => setWidth(Math.max(narrowest, Math.floor(element.clientWidth))))
    resized.observe(element)
    return () => resized.disconnect()
  }, [])
  return (
    <div className="scroll" ref={place}>
      {width > 0 && <SvgView of={draw(width)} />}
    </div>
  )
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
  // A wide drawing shrinks a little to fit; below that its container scrolls, since the texts would be unreadable.
  const style = tag === 'svg' ? { minWidth: Number(attributes['width']) * 0.7 } : undefined
  return createElement(
    tag,
    { ...given, style },
    ...children.map((child) => (typeof child === 'string' ? child : node(child))),
  )
}
