/** Dots in a grid, drawn by one or several pens, and shown as characters. Row 0 is the upper one. */
export class DotCanvas {
  readonly #columns: number
  readonly #rows: number
  readonly #cell: CellShape
  /** By character cell and pen: which of its dots are set. */
  readonly #dots = new Map<string, number>()

  /** Columns and rows are characters. */
  constructor(columns: number, rows: number, cell: CellShape) {
    this.#columns = columns
    this.#rows = rows
    this.#cell = cell
  }

  get width(): number {
    return this.#columns * this.#cell.columns
  }

  get height(): number {
    return this.#rows * this.#cell.rows
  }

  /** Whether a character has a single dot. */
  get isCoarse(): boolean {
    return this.#cell.columns * this.#cell.rows === 1
  }

  set(pen: number, x: number, y: number): void {
    const { columns, rows } = this.#cell
    const key = `${Math.floor(x / columns)},${Math.floor(y / rows)},${pen}`
    this.#dots.set(key, (this.#dots.get(key) ?? 0) | (1 << ((y % rows) * columns + (x % columns))))
  }

  /** A dot that can be seen from afar: four where a character has many. */
  blot(pen: number, x: number, y: number): void {
    const size = this.isCoarse ? 1 : 2
    const left = Math.min(x, this.width - size)
    const top = Math.min(y, this.height - size)
    for (let dot = 0; dot < size * size; dot += 1)
      this.set(pen, left + (dot % size), top + Math.floor(dot / size))
  }

  /** Dots by cell, from left to right; a cell knows what each pen left in it. */
  rows(pens: number): number[][][] {
    return Array.from({ length: this.#rows }, (_, row) =>
      Array.from({ length: this.#columns }, (_, column) =>
        Array.from({ length: pens }, (_, pen) => this.#dots.get(`${column},${row},${pen}`) ?? 0),
      ),
    )
  }
}

export interface CellShape {
  readonly columns: number
  readonly rows: number
}

export const brailleCell: CellShape = { columns: 2, rows: 4 }
export const singleCell: CellShape = { columns: 1, rows: 1 }

// The bit of each dot in a Braille character, by row and column: the lowest row was added to the alphabet later.
const brailleBits = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]

export function braille(dots: number): string {
  const bits = brailleBits.reduce((sum, bit, index) => sum | (dots & (1 << index) ? bit : 0), 0)
  return bits === 0 ? ' ' : String.fromCharCode(0x2800 + bits)
}
