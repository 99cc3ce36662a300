import type { JsonValue } from '../library/json-value.ts'

/** A setting that is not the same everywhere; absent where it is not set at all. */
export interface DifferingSetting {
  /** Such as `training.rewards.beta`. */
  readonly name: string
  /** In the order of what was compared. */
  readonly values: readonly (JsonValue | undefined)[]
}

/** Which of these settings differ, in the order in which they stand. Lists are compared as a whole. */
export function differingSettings(all: readonly object[]): DifferingSetting[] {
  const flat = all.map((settings) => new Map(flattened(settings as JsonValue, '')))
  const names = new Set(flat.flatMap((settings) => [...settings.keys()]))
  return [...names].flatMap((name) => {
    const values = flat.map((settings) => settings.get(name))
    const isSame = values.every((value) => JSON.stringify(value) === JSON.stringify(values[0]))
    return isSame ? [] : [{ name, values }]
  })
}

/** The same of settings as they were and as they are, in words. */
export function changesBetween(before: object, now: object): string[] {
  return differingSettings([before, now]).map(
    ({ name, values: [was, is] }) => `${name} was ${JSON.stringify(was)} and is ${JSON.stringify(is)}`,
  )
}

function flattened(value: JsonValue, name: string): [string, JsonValue][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]]
  return Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .flatMap(([field, part]) => flattened(part!, name === '' ? field : `${name}.${field}`))
}
