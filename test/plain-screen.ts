import { Writable } from 'node:stream'
import { type Screen, screenOf } from '../src/cli/display/screen.ts'

/** A screen without colour: a terminal of this many columns, or a file. */
export function plainScreen(columns: number = Number.POSITIVE_INFINITY, ascii = false): Screen {
  const stream = Object.assign(new Writable(), { isTTY: Number.isFinite(columns), columns })
  const screen = screenOf(stream as unknown as NodeJS.WriteStream, ascii ? { LANG: 'C' } : {})
  return { ...screen, paint: (_, text) => text }
}
