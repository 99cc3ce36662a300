import { JsonNumber } from '../src/tasks/sources/records.ts'

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown

/** Parses JSON with whole numbers beyond 2^53 as bigints, as Python reads them. */
export function parseWithBigints(text: string): unknown {
  return parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?[0-9]+$/.test(source)
      ? BigInt(source)
      : value,
  )
}

/** Parses JSON with numbers as text, because Python distinguishes 2 from 2.0. */
export function parseWithSources(text: string): unknown {
  return parse(text, (_, value, { source }) => (typeof value === 'number' ? new JsonNumber(source) : value))
}

function parse(text: string, reviver: Reviver): unknown {
  // The reviver's third argument (the source text) is newer than TypeScript's library types.
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
}
