/** How progress is shown: painted in place, as occasional lines, as JSON lines, or not at all. */
export const displays = ['live', 'plain', 'json', 'none'] as const
export type Display = (typeof displays)[number]

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The display for a stream: the requested one, otherwise live on a terminal and plain elsewhere and in CI. A file or a dumb
 * terminal gets plain even if live was requested, because nothing can be painted over there.
 */
export function chooseDisplay(
  option: Display | undefined,
  stream: Pick<NodeJS.WriteStream, 'isTTY'>,
  env: Environment = process.env,
): Display {
  const paintable = stream.isTTY === true && env['TERM'] !== 'dumb'
  if (option !== undefined) return option === 'live' && !paintable ? 'plain' : option
  const isCi = !['', '0', 'false', undefined].includes(env['CI'])
  return paintable && !isCi ? 'live' : 'plain'
}
