/** How long work is shown: painted in place, as quiet lines, as a JSON object per line, or not at all. */
export const displays = ['live', 'plain', 'json', 'none'] as const
export type Display = (typeof displays)[number]

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The face for a stream: what the person asked for, else live on a terminal and plain elsewhere and in CI. Live is only
 * had where something can be painted over: a file or a dumb terminal gets the plain one even when asked otherwise.
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
