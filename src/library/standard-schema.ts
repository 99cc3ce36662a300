import type { JsonObject, JsonType, JsonValue } from './json-value.ts'

/** The part of Standard Schema (standardschema.dev) that we use; zod, valibot and arktype support it. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): StandardResult | Promise<StandardResult>
    readonly jsonSchema?: { input(options: { target: 'draft-2020-12' }): Record<string, unknown> }
  }
}

interface StandardResult {
  readonly issues?: ReadonlyArray<{
    readonly message: string
    readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>
  }>
}

/** The first problem of a value, or undefined. Never throws, whatever the schema does. */
export function checkSchema(schema: StandardSchema, value: JsonValue): string | undefined {
  try {
    const result = schema['~standard'].validate(value)
    if ('then' in result) {
      result.then(undefined, () => {})
      return 'the schema is asynchronous; a contract needs a synchronous one'
    }
    const issue = result.issues?.[0]
    if (issue === undefined) return undefined
    const keys = issue.path?.map((part) => String(typeof part === 'object' ? part.key : part)) ?? []
    return keys.length === 0 ? issue.message : `${keys.join('.')}: ${issue.message}`
  } catch (error) {
    return `the schema failed: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The schema as JSON Schema, if its library supports that and JSON Schema can express it. */
export function jsonSchemaOf(schema: StandardSchema): JsonObject | undefined {
  try {
    const described = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
    return described === undefined ? undefined : (JSON.parse(JSON.stringify(described)) as JsonObject)
  } catch {
    return undefined
  }
}

const allTypes: readonly JsonType[] = ['string', 'number', 'boolean', 'array', 'object']

/** The JSON types a JSON Schema allows at its top level, except `null`. Without a plain `type`, any. */
export function typesOf(schema: JsonObject | undefined): readonly JsonType[] {
  const type = schema?.type
  const named = (Array.isArray(type) ? type : [type]).map((one) => (one === 'integer' ? 'number' : one))
  const types = allTypes.filter((one) => named.includes(one))
  return types.length === 0 ? allTypes : types
}
