import { type Lines, type Screen, screenOf } from './display/screen.ts'
import { jsonText } from './display/terminal-text.ts'

/** Writes a command's result to standard output, as JSON with `--json`, otherwise as lines. */
export function printResult(
  { json }: { readonly json: boolean },
  data: unknown,
  lines: (screen: Screen) => Lines,
): void {
  const screen = screenOf(process.stdout)
  if (json) printJson(data)
  else process.stdout.write(screen.text(lines(screen)))
}

export function printJson(data: unknown): void {
  process.stdout.write(`${jsonText(data)}\n`)
}

/** Writes remarks, which are not the result, to standard error. */
export function printAside(lines: (screen: Screen) => Lines): void {
  const screen = screenOf(process.stderr)
  process.stderr.write(screen.text(lines(screen)))
}
