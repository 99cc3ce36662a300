import { basename } from 'node:path'
import { z } from 'zod'
import { Problem } from '../problem.ts'
import { didYouMean } from '../tasks/own/nearest-name.ts'

/** A configuration that cannot be used; says which file, which fields, and what to do. */
export class ConfigurationError extends Problem {
  readonly file: string
  readonly problems: readonly string[]

  constructor(file: string, problems: readonly string[], options?: ErrorOptions) {
    const told = problems.length === 1 ? ` ${problems[0]}` : problems.map((one) => `\n- ${one}`).join('')
    super(`${basename(file)} cannot be used (${file}).${told}`, options)
    this.file = file
    this.problems = problems
  }
}

/** A sentence for each thing that is wrong, with its field. */
export function problemsIn(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  schema: z.ZodType,
  outer: readonly PropertyKey[] = [],
): string[] {
  return issues.flatMap((issue) => {
    const at = [...outer, ...issue.path]
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField(at, key, schema))
    if (issue.code === 'invalid_union') {
      const tried = triedBranch(issue.errors, valueAt(value, at))
      if (tried !== undefined) return problemsIn(tried, value, schema, at)
    }
    const sentence = /[.?]$/.test(issue.message) ? issue.message : `${issue.message}.`
    return [`${z.core.toDotPath(at) || 'the configuration'}: ${sentence}`]
  })
}

function unknownField(at: readonly PropertyKey[], key: string, schema: z.ZodType): string {
  const names = fieldsAt(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), at)
  const fields = names.length === 0 ? '' : ` The fields are ${names.join(', ')}.`
  return `${z.core.toDotPath([...at, key])}: there is no such field.${didYouMean(key, names)}${fields}`
}

type Described = z.core.JSONSchema.BaseSchema

/** The fields of the object at a path. */
function fieldsAt(schema: Described, [first, ...rest]: readonly PropertyKey[]): string[] {
  const { properties = {} } = schema.properties ? schema : (schema.anyOf?.find(hasFields) ?? {})
  if (first === undefined) return Object.keys(properties)
  return fieldsAt((properties[String(first)] ?? {}) as Described, rest)
}

function hasFields(schema: Described): boolean {
  return schema.properties !== undefined
}

/** In a choice between a word and an object, only the problems of the kind that was given are worth telling. */
function triedBranch(errors: readonly (readonly z.core.$ZodIssue[])[], value: unknown) {
  const branch = typeof value === 'object' && value !== null ? errors.at(-1) : errors[0]
  return branch === undefined || branch.length === 0 ? undefined : branch
}

function valueAt(value: unknown, at: readonly PropertyKey[]): unknown {
  return at.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  )
}
