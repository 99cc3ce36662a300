import { z } from 'zod'

/** A setting as declared by its schema. Flags, `--set` and the tables in docs/settings.md are generated from these. */
export interface Setting {
  /** Its path in the schema: `rewards.beta`. */
  readonly key: string
  readonly type: 'whole' | 'number' | 'switch' | 'choice'
  /** One sentence. */
  readonly description: string
  readonly default?: number | boolean | string
  /** For a choice. */
  readonly choices: readonly string[]
  /** For numbers; `above` is exclusive. */
  readonly bounds: { readonly least?: number; readonly above?: number; readonly most?: number }
}

/** The part of JSON Schema that settings use. */
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

/** All settings of a schema; keys of nested objects are joined with dots. */
export function settingsOf(schema: z.ZodType): Setting[] {
  return leaves(z.toJSONSchema(schema, { io: 'input' }) as Described, '')
}

function leaves(described: Described, key: string): Setting[] {
  const { type = '', properties, description = '' } = described
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, field]) =>
      leaves(field, key === '' ? name : `${key}.${name}`),
    )
  // Tables, such as prices, cannot be set with a single value.
  if (types[type] === undefined) return []
  // Zod writes the largest safe integer if there is no upper bound.
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

/** The allowed values in words: `from 1 to 64`, `above 0`, `mixed or all-atomic`. */
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
