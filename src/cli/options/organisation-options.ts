import { InvalidArgumentError } from 'commander'

/** `--option iterations=50`: values are read as JSON where they are, else as text. */
export function organisationOptions(
  text: string,
  earlier: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const split = text.indexOf('=')
  if (split < 1) throw new InvalidArgumentError('Write it as name=value, such as iterations=50.')
  const value = text.slice(split + 1)
  return { ...earlier, [text.slice(0, split)]: asJson(value) }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
