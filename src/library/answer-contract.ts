import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { pythonStrip } from '../python/text.ts'
import type { JsonObject, JsonType, JsonValue } from './json-value.ts'
import { checkSchema, jsonSchemaOf, type StandardSchema, typesOf } from './standard-schema.ts'

/** The form an answer must have. Whether it is right is up to the scorer: a contract accepts everything a scorer can read. */
export interface AnswerContract {
  readonly name: string
  /** One sentence for prompts. */
  readonly requirement: string
  /** A valid answer, shown in prompts. */
  readonly example: JsonValue
  /** The allowed JSON types. Any other type is a format failure. `null` (no answer) is always allowed. */
  readonly types: readonly JsonType[]
  /** Judges an answer of one of these types. */
  check(answer: JsonValue): AnswerVerdict
  /** Distinguishes this contract from others; part of the executor fingerprint. */
  readonly description: JsonObject
}

/** `outside`: the value violates the contract, but may be repaired. `malformed`: the answer's own fields break the format. */
type AnswerVerdict =
  | { readonly verdict: 'fits' }
  | { readonly verdict: 'outside'; readonly problem: string }
  | { readonly verdict: 'malformed'; readonly reason: AnswerFault }

/** In the order of checking. */
export type AnswerFault = 'missing_field' | 'extra_field' | 'wrong_type' | 'bad_value'

const fits: AnswerVerdict = { verdict: 'fits' }

/** A string contract; `accepts` gets the trimmed answer. */
function stringContract(
  name: string,
  requirement: string,
  example: string,
  accepts: (trimmed: string) => boolean,
): AnswerContract {
  return {
    name,
    requirement,
    example,
    types: ['string'],
    check: (answer) =>
      accepts(pythonStrip(answer as string)) ? fits : { verdict: 'outside', problem: requirement },
    description: { name, requirement, example },
  }
}

export const optionLabel: AnswerContract = stringContract(
  'option-label',
  'The answer is a string with the label of exactly one option: a single letter and nothing else.',
  'A',
  (answer) => /^[A-Za-z]$/.test(answer),
)

export const booleanString: AnswerContract = stringContract(
  'boolean-string',
  'The answer is the string "true" or the string "false", not a JSON Boolean.',
  'true',
  (answer) => /^(?:true|false)$/i.test(answer),
)

export const numericString: AnswerContract = stringContract(
  'numeric-string',
  'The answer is a string with one number, without units, currency symbols or commas; an integer has no ".0".',
  '42',
  (answer) => /^-?[0-9.,]+$/.test(answer),
)

export const codeString: AnswerContract = stringContract(
  'code-string',
  "The answer is a string with the complete source code for the problem's interface, without code fences.",
  'def solve(x):\n    return x\n',
  (answer) => answer !== '' && !answer.startsWith('```') && !answer.startsWith('~~~'),
)

export const freeText: AnswerContract = stringContract(
  'free-text',
  'The answer is a string that is not empty.',
  'The Treaty of Westphalia',
  (answer) => answer !== '',
)

const scales = ['', 'thousand', 'million', 'billion', 'percent']
const tatqaRequirement =
  'The answer is an object with "values", a list with one string per answer span (one number for arithmetic and ' +
  'counting, without unit suffixes), and "scale", one of "", "thousand", "million", "billion", "percent".'

/** TAT-QA's nested object is strict: any violation is a format failure, and nothing is trimmed. */
export const valuesAndScale: AnswerContract = {
  name: 'values-and-scale',
  requirement: tatqaRequirement,
  example: { values: ['15.64'], scale: 'percent' },
  types: ['object'],
  check(answer) {
    const fault = faultOfValuesAndScale(answer as JsonObject)
    return fault === undefined ? fits : { verdict: 'malformed', reason: fault }
  },
  description: { name: 'values-and-scale', requirement: tatqaRequirement, scales },
}

function faultOfValuesAndScale(answer: JsonObject): AnswerFault | undefined {
  if (!Object.hasOwn(answer, 'values') || !Object.hasOwn(answer, 'scale')) return 'missing_field'
  if (Object.keys(answer).length > 2) return 'extra_field'
  const { values, scale } = answer
  if (!Array.isArray(values) || values.some((value) => typeof value !== 'string')) return 'wrong_type'
  if (typeof scale !== 'string') return 'wrong_type'
  if (values.length === 0 || !scales.includes(scale)) return 'bad_value'
  return undefined
}

/** The built-in contracts by kind of answer. */
export const contractKinds = {
  text: freeText,
  option: optionLabel,
  boolean: booleanString,
  number: numericString,
  code: codeString,
  values: valuesAndScale,
} as const

export type ContractKind = keyof typeof contractKinds

/**
 * A user's own contract, from a schema of zod or any other library that supports Standard Schema. The schema only
 * validates: the answer stays as the model gave it, without the schema's defaults or transformations. A schema
 * without a JSON Schema form needs a `version`, to be changed along with it.
 */
export function schemaContract(options: {
  name: string
  requirement: string
  example: JsonValue
  schema: StandardSchema
  version?: string
}): AnswerContract {
  const { name, requirement, example, schema, version } = options
  const problem = checkSchema(schema, example)
  if (problem !== undefined)
    throw new Error(`The example of answer contract '${name}' does not fit its own schema: ${problem}`)
  const jsonSchema = jsonSchemaOf(schema)
  if (jsonSchema === undefined && version === undefined)
    throw new Error(
      `The schema of answer contract '${name}' has no JSON Schema form: give the contract a version.`,
    )
  return judgedBy(schema, {
    name,
    requirement,
    example,
    schema: jsonSchema ?? null,
    version: version ?? null,
  })
}

interface SchemaDescription {
  readonly name: string
  readonly requirement: string
  readonly example: JsonValue
  /** As JSON Schema, if available. */
  readonly schema: JsonObject | null
  readonly version: string | null
}

function judgedBy(schema: StandardSchema, description: SchemaDescription): AnswerContract {
  const { name, requirement, example, schema: jsonSchema } = description
  return {
    name,
    requirement,
    example,
    types: typesOf(jsonSchema ?? undefined),
    check(answer) {
      const found = checkSchema(schema, answer)
      return found === undefined ? fits : { verdict: 'outside', problem: found }
    },
    description: { ...description },
  }
}

/**
 * Restores a contract from its description. Undefined if code is needed that the description does not contain: a
 * schema without a JSON Schema form, or a hand-written contract.
 */
export function describedContract(description: JsonObject): AnswerContract | undefined {
  const builtIn = Object.values(contractKinds).find((one) => isDeepStrictEqual(one.description, description))
  if (builtIn !== undefined) return builtIn
  const { data } = describedSchema.safeParse(description)
  if (data === undefined) return undefined
  try {
    return judgedBy(z.fromJSONSchema(data.schema), data as SchemaDescription)
  } catch {
    return undefined
  }
}

const describedSchema = z.object({
  name: z.string(),
  requirement: z.string(),
  example: z.json(),
  schema: z.record(z.string(), z.json()),
  version: z.string().nullable(),
})
