import { type Screen, screenOf } from './display/screen.ts'
import { jsonText } from './display/terminal-text.ts'

/** Writes a command's result to standard output: as JSON where `--json` asks for it, else as text. */
export function printResult(
  { json }: { readonly json: boolean },
  data: () => unknown,
  text: (screen: Screen) => string,
): void {
  process.stdout.write(json ? `${jsonText(data())}\n` : text(screenOf(process.stdout)))
}
