import type { JsonValue } from '../library/json-value.ts'

/** A setting with different values; undefined where it is not set. */
export interface DifferingSetting {
  /** Such as `training.rewards.beta`. */
  readonly name: string
  /** In the order of the compared objects. */
  readonly values: readonly (JsonValue | undefined)[]
}

/** The settings that differ, in order. Lists are compared as a whole. */
export function differingSettings(all: readonly object[]): DifferingSetting[] {
  const flat = all.map((settings) => new Map(flattened(settings as JsonValue, '')))
  const names = new Set(flat.flatMap((settings) => [...settings.keys()]))
  return [...names].flatMap((name) => {
    const values = flat.map((settings) => settings.get(name))
    const isSame = values.every((value) => JSON.stringify(value) === JSON.stringify(values[0]))
    return isSame ? [] : [{ name, values }]
  })
}

/** The differences between settings before and now, in words. */
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
