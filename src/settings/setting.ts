import { z } from 'zod'

/** A setting as its schema declares it. Flags, `--set` and the tables in docs/settings.md are made from these. */
export interface Setting {
  /** Its path in the schema: `rewards.beta`. */
  readonly key: string
  readonly type: 'whole' | 'number' | 'switch' | 'choice'
  /** A sentence. */
  readonly description: string
  readonly default?: number | boolean | string
  /** For a choice. */
  readonly choices: readonly string[]
  /** For numbers; the value of `above` itself is excluded. */
  readonly bounds: { readonly least?: number; readonly above?: number; readonly most?: number }
}

/** The part of JSON Schema that settings need. */
interface Described {
  readonly type?: string
  readonly description?: string
  readonly default?: Setting['default']
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Described>>
}

const types: Readonly<Record<string, Setting['type']>> = {
  integer: 'whole',
  number: 'number',
  boolean: 'switch',
  string: 'choice',
}

/** All settings of a schema, those of nested objects with dots in their keys. */
export function settingsOf(schema: z.ZodType): Setting[] {
  return leaves(z.toJSONSchema(schema, { io: 'input' }) as Described, '')
}

function leaves(described: Described, key: string): Setting[] {
  const { type = '', properties, description = '' } = described
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, field]) =>
      leaves(field, key === '' ? name : `${key}.${name}`),
    )
  // Tables, such as prices, are not set with one value.
  if (types[type] === undefined) return []
  // Zod writes the largest safe integer where there is no upper bound.
  const most = described.maximum === Number.MAX_SAFE_INTEGER ? undefined : described.maximum
  return [
    {
      key,
      description,
      type: types[type],
      default: described.default,
      choices: described.enum ?? [],
      bounds: { least: described.minimum, above: described.exclusiveMinimum, most },
    },
  ]
}

/** What a setting may be: `from 1 to 64`, `above 0`, `mixed or all-atomic`. */
export function allowedText({ type, choices, bounds }: Pick<Setting, 'type' | 'choices' | 'bounds'>): string {
  if (type === 'switch') return 'true or false'
  if (type === 'choice') return choices.join(' or ')
  const { least, above, most } = bounds
  if (least !== undefined) return most === undefined ? `${least} or more` : `from ${least} to ${most}`
  if (above === undefined) return 'any number'
  return most === undefined ? `above ${above}` : `above ${above}, at most ${most}`
}

export function isWithin(value: number, bounds: Setting['bounds']): boolean {
  const { least = -Infinity, above = -Infinity, most = Infinity } = bounds
  return Number.isFinite(value) && value >= least && value > above && value <= most
}
