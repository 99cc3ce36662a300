type Reviver = (key: string, value: unknown, context: { source: string }) => unknown

/** JSON whose whole numbers beyond 2^53 come as bigints, as Python reads them. */
export function parseWithBigints(text: string): unknown {
  const revive: Reviver = (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?[0-9]+$/.test(source)
      ? BigInt(source)
      : value
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown)
}
