import { z } from 'zod'
import { identifierPattern } from './identifier.ts'
import type { OuterPrompts, Role } from './library.ts'
import { describePath, type LibraryPath, type LibraryProblem, shown } from './library-problem.ts'
import { checkAcrossRoles } from './library-rules.ts'
import { standardPrompts } from './standard-prompts.ts'
import { builtInTools, compareTools } from './tool-name.ts'

/** Reads a definition from any source: checks it against the schema and its rules, and fills in defaults. */
export function readLibrary(
  definition: unknown,
  ownTools: readonly string[] = [],
): { library?: { roles: readonly Role[]; prompts: OuterPrompts }; problems: readonly LibraryProblem[] } {
  const problems: LibraryProblem[] = []
  const note = (path: LibraryPath, message: string) =>
    problems.push({ path, text: `${describePath(path, definition)} ${message}` })
  const schema = ownTools.length === 0 ? builtInSchema : librarySchema([...builtInTools, ...ownTools])
  const { data, error } = schema.safeParse(definition)
  for (const issue of error?.issues ?? []) {
    const path = issue.path as LibraryPath
    const fields = issue.code === 'unrecognized_keys' ? issue.keys : []
    for (const field of fields) note([...path, field], issue.message)
    if (fields.length === 0) note(path, issue.message)
  }
  checkAcrossRoles(definition, note)
  return { library: problems.length === 0 ? data : undefined, problems }
}

// Cached, because building a schema takes far longer than using it.
const builtInSchema = librarySchema(builtInTools)

function librarySchema(tools: readonly string[]) {
  const tool = z.custom<string>((given) => tools.includes(given as string), {
    error: ({ input }) =>
      `is ${shown(input)}, which is not a tool here. Use one of ${tools.join(', ')}, or register the tool first.`,
  })
  const type = identifier('Give the type a short name such as evidence.')
  const types = names(type, 'List type names, or leave it out.')
  const executor = fields('an executor', {
    id: identifier('Give the executor a name, unique in the library.'),
    responsibility: text('Say in one sentence what this executor answers for.'),
    prompt: paragraphs('Write the system prompt of this executor, as one text or as a list of paragraphs.'),
    tools: names(tool, 'List tool names, or leave it out for none.', compareTools).default([]),
  })
  const role = fields('a role', {
    id: identifier('Give the role a short name such as fact_checker.'),
    description: text('Say in a sentence what the role is for.'),
    accepts: types.optional(),
    produces: types
      .refine(({ length }) => length > 0, {
        error: "is empty. Name at least one type, or leave it out for 'analysis'.",
      })
      .default(['analysis']),
    atomic: executor.optional(),
    group: fields('a group', {
      workers: z.tuple([executor, executor, executor], {
        error: ({ input }) =>
          Array.isArray(input)
            ? `has ${input.length} worker${input.length === 1 ? '' : 's'}. A group has exactly three: add or remove some.`
            : wrongType(input, 'a list', 'List the three executors that work side by side.'),
      }),
      aggregator: executor,
    }).optional(),
  })
  const outerPrompt = text('Write it, or leave the field out to use the standard one.')
  return fields('a library', {
    prompts: fields('the prompts', {
      finalizer: outerPrompt.default(standardPrompts.finalizer),
      direct: outerPrompt.default(standardPrompts.direct),
    }).default(standardPrompts),
    roles: list(role, 'List the roles of the library.').min(1, 'has no role. Add at least one.'),
  })
}

/** A mapping with exactly these fields. */
function fields<Shape extends z.ZodRawShape>(kind: string, shape: Shape) {
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code, input }) =>
      code === 'unrecognized_keys'
        ? `is not a field of ${kind}. The fields are ${names}.`
        : wrongType(input, kind, `Write the fields ${names}.`),
  })
}

function list<Item extends z.ZodType>(item: Item, remedy: string) {
  return z.array(item, { error: ({ input }) => wrongType(input, 'a list', remedy) })
}

function wrongType(input: unknown, wanted: string, remedy: string): string {
  return input === undefined ? `is missing. ${remedy}` : `is ${shown(input)}, not ${wanted}. ${remedy}`
}

// Prompts may have line breaks and tabs; other control characters could steer a terminal.
const strayControl = /[^\P{Cc}\t\n]/u

/** Trimmed text with plain line ends, so that a YAML block equals a TypeScript string. */
function text(remedy: string) {
  return z
    .string({
      error: ({ input }) => (input === null ? `is empty. ${remedy}` : wrongType(input, 'text', remedy)),
    })
    .overwrite((given) => given.replaceAll(/\r\n?/g, '\n').trim())
    .min(1, `is empty. ${remedy}`)
    .refine((given) => !strayControl.test(given), {
      error: ({ input }) => {
        const code = strayControl.exec(input as string)![0].codePointAt(0)!
        return `contains the control character U+${code.toString(16).toUpperCase().padStart(4, '0')}. Remove it.`
      },
    })
    .refine((given) => given.isWellFormed(), 'contains half of a surrogate pair. Remove it.')
}

/** A text, or a list of texts that become its paragraphs. */
function paragraphs(remedy: string) {
  const isList = (given: unknown): given is string[] =>
    Array.isArray(given) && given.every((part) => typeof part === 'string')
  return z.preprocess((given) => (isList(given) ? given.join('\n\n') : given), text(remedy))
}

function identifier(remedy: string) {
  const rule = 'Use letters, digits, - and _, a letter first, at most 64 characters.'
  return text(remedy).refine((given) => given === '' || identifierPattern.test(given), {
    error: ({ input }) => `is ${shown(input)}, which cannot be a name. ${rule}`,
  })
}

/** Distinct names, in a fixed order. */
function names(name: z.ZodType<string>, remedy: string, compare?: (a: string, b: string) => number) {
  const repeated = (given: readonly string[]) => given.find((one, index) => given.indexOf(one) !== index)
  return list(name, remedy)
    .refine((given) => repeated(given) === undefined, {
      error: ({ input }) => `lists ${shown(repeated(input as string[]))} twice. Remove one.`,
    })
    .transform((given) => given.toSorted(compare))
}
