/** A drawing as plain data: the browser renders it with React, a report writes it as text. */
export interface SvgElement {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly children: readonly (SvgElement | string)[]
}

export function svgElement(
  tag: string,
  attributes: SvgElement['attributes'] = {},
  ...children: readonly (SvgElement | string)[]
): SvgElement {
  return { tag, attributes, children }
}

/** A drawing of this size. Screen readers say its title. */
export function drawing(
  width: number,
  height: number,
  title: string,
  children: readonly SvgElement[],
): SvgElement {
  const viewBox = `0 0 ${place(width)} ${place(height)}`
  return svgElement(
    'svg',
    { viewBox, width, height, role: 'img', 'aria-label': title, class: 'plot' },
    ...children,
  )
}

export function text(
  content: string,
  x: number,
  y: number,
  attributes: SvgElement['attributes'] = {},
): SvgElement {
  return svgElement('text', { x: place(x), y: place(y), ...attributes }, content)
}

export function line(x1: number, y1: number, x2: number, y2: number, name: string): SvgElement {
  return svgElement('line', { x1: place(x1), y1: place(y1), x2: place(x2), y2: place(y2), class: name })
}

export function rectangle(
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  name: string,
  more: SvgElement['attributes'] = {},
): SvgElement {
  return svgElement('rect', {
    x: place(x),
    y: place(y),
    width: place(width),
    height: place(height),
    class: name,
    ...more,
  })
}

/** The approximate width of a text at this font size, since there is no browser here to measure it. */
export function textWidth(content: string, fontSize = 12): number {
  return content.length * fontSize * 0.58
}

/** A text cut to a width. Hovering shows all of it. */
export function shortenedText(
  content: string,
  width: number,
  x: number,
  y: number,
  { fontSize = 12, ...attributes }: Record<string, string | number>,
): SvgElement {
  const most = Math.max(2, Math.floor(width / textWidth('x', Number(fontSize))))
  if (content.length <= most) return text(content, x, y, attributes)
  const { tag, attributes: placed } = text('', x, y, attributes)
  return svgElement(tag, placed, `${content.slice(0, most - 1)}…`, svgElement('title', {}, content))
}

/** To a tenth of a pixel. */
export function place(value: number): number {
  return Math.round(value * 10) / 10
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that is safe in HTML and SVG, between tags and in quoted attributes. */
export function escaped(content: string): string {
  return content.replace(/[&<>"']/g, (sign) => escapes[sign]!)
}

export function svgText({ tag, attributes, children }: SvgElement): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
  const content = children.map((child) => (typeof child === 'string' ? escaped(child) : svgText(child)))
  return `<${tag}${written.join('')}>${content.join('')}</${tag}>`
}
