import type { Drawing, DrawnShape } from './drawing.ts'

export function drawnSvg({ width, height, title, shapes }: Drawing): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${xmlText(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...shapes.map(element),
    '</svg>\n',
  ].join('\n')
}

function element(shape: DrawnShape): string {
  const { colour } = shape
  if (shape.kind === 'line') {
    const [[x1, y1], [x2, y2]] = [shape.from, shape.to]
    return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${colour}" stroke-width="1.5"/>`
  }
  const [x, y] = [at(shape.at[0]), at(shape.at[1])]
  if (shape.kind === 'disc') return `<circle cx="${x}" cy="${y}" r="${shape.radius}" fill="${colour}"/>`
  if (shape.kind === 'box')
    return `<rect x="${x}" y="${y}" width="${at(shape.width)}" height="${at(shape.height)}" fill="${colour}"/>`
  return `<text x="${x}" y="${y}" text-anchor="${shape.anchor}" dominant-baseline="central" font-family="sans-serif" font-size="12" fill="${colour}">${xmlText(shape.text)}</text>`
}

function at(value: number): string {
  return String(Number(value.toFixed(2)))
}

export function xmlText(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character]!)
}
