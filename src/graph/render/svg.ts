import stringWidth from 'string-width'
import { layeredLayout, type Slot } from './layered-layout.ts'
import type { Picture } from './picture.ts'

// In pixels: width of a character column, height of a box, and space for lines between rows.
const column = 9
const box = 36
const gap = 44
const margin = 12

/** A drawing as SVG: rows by dependency, with lines curving down from each source to its targets. */
export function svg(picture: Picture): string {
  const { rows, width } = layeredLayout(picture, stringWidth)
  const x = (place: number) => margin + (place + 0.5) * column
  const top = (row: number) => margin + row * (box + gap)
  const size = [2 * margin + width * column, 2 * margin + rows.length * box + (rows.length - 1) * gap]
  const lines = rows.flatMap((row, index) => {
    const above = new Map((rows[index - 1] ?? []).map((slot) => [slot.source, slot]))
    return row.flatMap((slot) =>
      slot.entries.map(({ source, column: at }) => {
        const from = [x(above.get(source)!.center), top(index) - gap] as const
        const to = [x(at), top(index)] as const
        const middle = top(index) - gap / 2
        // A lane passes through its row; only a line that arrives gets an arrowhead.
        const through = slot.node === undefined ? ` V${top(index) + box}` : ''
        const point = slot.node === undefined ? '' : ' marker-end="url(#arrow)"'
        return `<path class="line" d="M${from} C${from[0]},${middle} ${to[0]},${middle} ${to}${through}"${point}/>`
      }),
    )
  })
  const boxes = rows.flatMap((row, index) => row.flatMap((slot) => boxOf(slot, x, top(index))))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" width="${size[0]}" height="${size[1]}" role="img">`,
    `<title>${escaped(titleOf(picture))}</title>`,
    `<style>${style}</style>`,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
    ...lines,
    ...boxes,
    '</svg>\n',
  ].join('\n')
}

/** Follows the viewer's light or dark mode. A group has a second frame. */
const style = [
  'text{font:14px ui-monospace,monospace;text-anchor:middle;dominant-baseline:central;fill:#1a1a1a}',
  'rect{fill:#fff;stroke:#444}.line{fill:none;stroke:#777}marker path{fill:#777}',
  '@media (prefers-color-scheme:dark){text{fill:#eee}rect{fill:#222;stroke:#aaa}.line{stroke:#999}marker path{fill:#999}}',
].join('')

function boxOf({ node, center, reach }: Slot, x: (place: number) => number, top: number): string[] {
  if (node === undefined) return []
  const frame = (inset: number) =>
    `<rect x="${x(center - reach) + inset}" y="${top + inset}" width="${2 * reach * column - 2 * inset}" height="${box - 2 * inset}" rx="${node.kind === 'end' ? box / 2 : 4}"/>`
  return [
    frame(0),
    ...(node.kind === 'group' ? [frame(3)] : []),
    `<text x="${x(center)}" y="${top + box / 2}">${escaped(node.label)}</text>`,
  ]
}

function titleOf({ edges }: Picture): string {
  return `Agent graph with ${edges.length} connections`
}

/** Role names are user text, never markup. Control characters were replaced before. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
