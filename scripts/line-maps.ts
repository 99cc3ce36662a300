// Source maps for stack traces, which only need files and lines. Without the rest, they take a tenth of the space.

interface SourceMap {
  readonly mappings: string
  readonly [field: string]: unknown
}

/** A column of the generated line, and the source line it comes from. */
type Segment = readonly [column: number, source: number, line: number]

/** Keeps a segment only if its source line differs from that of the one before. Drops sources, names and columns. */
export function lineMap({ mappings, names: _, sourcesContent: __, ...map }: SourceMap): SourceMap {
  return { ...map, names: [], mappings: encoded(decoded(mappings).map(changesOfLine)) }
}

function changesOfLine(segments: readonly Segment[]): readonly Segment[] {
  return segments.filter(([, source, line], place) => {
    const before = segments[place - 1]
    return before === undefined || before[1] !== source || before[2] !== line
  })
}

/** The segments of each generated line, without those that have no source. */
function decoded(mappings: string): Segment[][] {
  let source = 0
  let line = 0
  return mappings.split(';').map((text) => {
    let column = 0
    return text.split(',').flatMap((segment): Segment[] => {
      const [columns = 0, sources, lines = 0] = numbersOf(segment)
      column += columns
      if (sources === undefined) return []
      source += sources
      line += lines
      return [[column, source, line]]
    })
  })
}

function encoded(lines: readonly (readonly Segment[])[]): string {
  let source = 0
  let line = 0
  return lines
    .map((segments) => {
      let column = 0
      return segments
        .map(([toColumn, toSource, toLine]) => {
          const text = [toColumn - column, toSource - source, toLine - line, 0].map(textOf).join('')
          column = toColumn
          source = toSource
          line = toLine
          return text
        })
        .join(',')
    })
    .join(';')
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Base64 VLQ: five bits per digit, lowest first; bit 6 means that more digits follow. The lowest bit is the sign. */
function numbersOf(text: string): number[] {
  const numbers: number[] = []
  let value = 0
  let shift = 0
  for (const letter of text) {
    const digit = digits.indexOf(letter)
    value += (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    numbers.push(value & 1 ? -(value >> 1) : value >> 1)
    value = 0
    shift = 0
  }
  return numbers
}

function textOf(number: number): string {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1
  let text = ''
  do {
    const more = rest > 31 ? 32 : 0
    text += digits[(rest & 31) | more]
    rest >>= 5
  } while (rest > 0)
  return text
}
