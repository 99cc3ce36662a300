import { crc32, deflateSync } from 'node:zlib'
import type { Drawing, DrawnShape } from './drawing.ts'
import { glyph, hasDot } from './glyphs.ts'

/** Dots per pixel, so that drawings stay sharp on high-density screens. */
const density = 2

/** A drawing as a PNG file. Rendered here, so that fonts and libraries of the machine do not change it. */
export function png(drawing: Drawing): Buffer {
  const canvas = new Canvas(drawing.width * density, drawing.height * density)
  for (const shape of drawing.shapes) canvas.draw(shape)
  return canvas.encode()
}

class Canvas {
  readonly #width: number
  readonly #height: number
  /** Per row, a filter byte and then three bytes per dot. */
  readonly #bytes: Buffer

  constructor(width: number, height: number) {
    this.#width = width
    this.#height = height
    this.#bytes = Buffer.alloc(height * (1 + width * 3), 255)
    for (let row = 0; row < height; row += 1) this.#bytes[row * (1 + width * 3)] = 0
  }

  draw(shape: DrawnShape): void {
    const colour = Number.parseInt(shape.colour.slice(1), 16)
    if (shape.kind === 'line') {
      this.#line(shape, colour)
      return
    }
    const [x, y] = [shape.at[0] * density, shape.at[1] * density]
    if (shape.kind === 'box') this.#box(x, y, shape.width * density, shape.height * density, colour)
    else if (shape.kind === 'disc') this.#disc(x, y, shape.radius * density, colour)
    else this.#text(shape, x, y, colour)
  }

  #line({ from, to }: DrawnShape & { kind: 'line' }, colour: number): void {
    const steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) * density)
    for (let step = 0; step <= steps; step += 1) {
      const part = steps === 0 ? 0 : step / steps
      const at = (axis: 0 | 1) => (from[axis] + (to[axis] - from[axis]) * part) * density
      this.#box(at(0) - 1, at(1) - 1, 2, 2, colour)
    }
  }

  #disc(x: number, y: number, radius: number, colour: number): void {
    for (let dy = -radius; dy <= radius; dy += 1)
      for (let dx = -radius; dx <= radius; dx += 1)
        if (dx * dx + dy * dy <= radius * radius) this.#dot(x + dx, y + dy, colour)
  }

  #text({ text, anchor }: DrawnShape & { kind: 'text' }, x: number, y: number, colour: number): void {
    const letters = [...text]
    const width = letters.length * glyph.advance * density
    const left = x - { start: 0, middle: width / 2, end: width }[anchor]
    const top = y - (glyph.height * density) / 2
    for (const [index, letter] of letters.entries())
      for (let row = 0; row < glyph.height + glyph.below; row += 1)
        for (let column = 0; column < glyph.width; column += 1)
          if (hasDot(letter, column, row))
            this.#box(
              left + (index * glyph.advance + column) * density,
              top + row * density,
              density,
              density,
              colour,
            )
  }

  #box(x: number, y: number, width: number, height: number, colour: number): void {
    for (let dy = 0; dy < height; dy += 1)
      for (let dx = 0; dx < width; dx += 1) this.#dot(x + dx, y + dy, colour)
  }

  #dot(x: number, y: number, colour: number): void {
    const [column, row] = [Math.round(x), Math.round(y)]
    if (column < 0 || row < 0 || column >= this.#width || row >= this.#height) return
    this.#bytes.writeUIntBE(colour, row * (1 + this.#width * 3) + 1 + column * 3, 3)
  }

  encode(): Buffer {
    const header = Buffer.alloc(13)
    header.writeUInt32BE(this.#width, 0)
    header.writeUInt32BE(this.#height, 4)
    // Eight bits per channel, RGB, no interlacing.
    header.set([8, 2, 0, 0, 0], 8)
    const signature = Buffer.from('89504e470d0a1a0a', 'hex')
    return Buffer.concat([
      signature,
      chunk('IHDR', header),
      chunk('IDAT', deflateSync(this.#bytes)),
      chunk('IEND'),
    ])
  }
}

function chunk(type: string, content: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(content.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
