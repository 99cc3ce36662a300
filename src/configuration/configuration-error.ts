import { basename } from 'node:path'
import { z } from 'zod'
import { Problem } from '../problem.ts'
import { didYouMean } from '../tasks/own/nearest-name.ts'

/** A configuration cannot be used. Says which file, which fields, and what to do. */
export class ConfigurationError extends Problem {
  readonly file: string
  readonly problems: readonly string[]

  constructor(file: string, given: string | readonly string[], options?: ErrorOptions) {
    const problems = typeof given === 'string' ? [given] : given
    const told =
      problems.length === 1 ? `: ${problems[0]}` : `.${problems.map((one) => `\n- ${one}`).join('')}`
    super(`${basename(file)} cannot be used (${file})${told}`, options)
    this.file = file
    this.problems = problems
  }
}

/** One sentence per problem, with its field. */
export function problemsIn(
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
  outer: readonly PropertyKey[] = [],
): string[] {
  return issues.flatMap((issue) => {
    const at = [...outer, ...issue.path]
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField(at, key, schema))
    if (issue.code === 'invalid_union') {
      // For a union of a word and an object, only report problems of the kind that was given.
      const isObject = typeof issue.input === 'object' && issue.input !== null
      return problemsIn(issue.errors.at(isObject ? -1 : 0)!, schema, at)
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
  const described = schema.properties ? schema : schema.anyOf?.find((one) => one.properties !== undefined)
  const properties = described?.properties ?? {}
  if (first === undefined) return Object.keys(properties)
  return fieldsAt((properties[String(first)] ?? {}) as Described, rest)
}
