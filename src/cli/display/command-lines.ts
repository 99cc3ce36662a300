import { type Lines, wrapText } from './screen.ts'

/** A command to copy, and what it does. */
export type DescribedCommand = readonly [command: string, what?: string]

/** Puts each description beside its command if all of them fit, otherwise below it. */
export function commandLines(
  commands: readonly DescribedCommand[],
  { columns }: { readonly columns: number },
): Lines {
  const described = commands.filter(([, what]) => what)
  const width = Math.max(0, ...described.map(([command]) => command.length))
  const areBeside = described.every(([, what]) => 4 + width + what!.length <= columns)
  return commands.map(([command, what]) => {
    if (!what) return { verbatim: `  ${command}` }
    if (areBeside) return { verbatim: `  ${command.padEnd(width)}  ${what}` }
    return [{ verbatim: `  ${command}` }, `      ${wrapText(what, { columns }, '      ')}`]
  })
}
