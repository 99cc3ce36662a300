import { z } from 'zod'
import { identifierPattern } from './identifier.ts'
import type { OuterPrompts, Role } from './library.ts'
import { describePath, type LibraryPath, type LibraryProblem, shown } from './library-problem.ts'
import { checkAcrossRoles } from './library-rules.ts'
import { standardPrompts } from './standard-prompts.ts'
import { builtInTools, compareTools } from './tool-name.ts'

export type ReadLibrary =
  | { readonly roles: readonly Role[]; readonly prompts: OuterPrompts }
  | { readonly roles?: undefined; readonly problems: readonly LibraryProblem[] }

/** Reads a definition of any origin: checks it against the schema and its rules, and fills in defaults. */
export function readLibrary(definition: unknown, ownTools: readonly string[] = []): ReadLibrary {
  const problems: LibraryProblem[] = []
  const note = (path: LibraryPath, message: string) =>
    problems.push({ path, where: describePath(path, definition), message })
  const schema = ownTools.length === 0 ? builtInSchema() : librarySchema([...builtInTools, ...ownTools])
  const parsed = schema.safeParse(definition)
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path as (string | number)[]
    const fields = issue.code === 'unrecognized_keys' ? issue.keys : undefined
    if (fields === undefined) note(path, issue.message)
    else for (const field of fields) note([...path, field], issue.message)
  }
  checkAcrossRoles(definition, note)
  return parsed.data === undefined || problems.length > 0 ? { problems } : parsed.data
}

// Building a schema takes far longer than using it.
let builtIn: ReturnType<typeof librarySchema> | undefined

function builtInSchema() {
  builtIn ??= librarySchema(builtInTools)
  return builtIn
}

function librarySchema(tools: readonly string[]) {
  const executor = fields('an executor', {
    id: identifier('Give the executor a name, unique in the library.'),
    responsibility: text('Say in one sentence what this executor answers for.'),
    prompt: paragraphs('Write the system prompt of this executor, as one text or as a list of paragraphs.'),
    tools: permissions(tools),
  })
  const aggregator = z
    .unknown()
    .refine((given) => given != null, {
      error: 'is missing. Add the executor that combines the three workers.',
      abort: true,
    })
    .pipe(executor)
  const workers = list(executor, 'List the three executors that work side by side.')
    .refine(({ length }) => length === 3, {
      error: ({ input }) => {
        const { length } = input as unknown[]
        return `has ${length} worker${length === 1 ? '' : 's'}. A group has exactly three: add or remove some.`
      },
    })
    .transform(([first, second, third]) => [first!, second!, third!] as const)
  const role = fields('a role', {
    id: identifier('Give the role a short name such as fact_checker.'),
    description: text('Say in a sentence what the role is for.'),
    accepts: types().optional(),
    produces: types()
      .refine((names) => names.length > 0, {
        error: "is empty. Name at least one type, or leave it out for 'analysis'.",
      })
      .default(['analysis']),
    atomic: executor.optional(),
    group: fields('a group', { workers, aggregator }).optional(),
  })
  const outerPrompt = (standard: string) =>
    text('Write it, or leave the field out to use the standard one.').default(standard)
  return fields('a library', {
    prompts: fields('the prompts', {
      finalizer: outerPrompt(standardPrompts.finalizer),
      direct: outerPrompt(standardPrompts.direct),
    }).default(standardPrompts),
    roles: list(role, 'List the roles of the library.').min(1, 'has no role. Add at least one.'),
  })
}

/** A mapping with just these fields. */
function fields<Shape extends z.ZodRawShape>(kind: string, shape: Shape) {
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code, input }) =>
      code === 'unrecognized_keys'
        ? `is not a field of ${kind}. The fields are ${names}.`
        : `is ${shown(input)}, not ${kind}. Write the fields ${names}.`,
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

/** Text without outer white space and with plain line ends, so that a YAML block equals a TypeScript string. */
function text(remedy: string, furtherProblem: (text: string) => string | undefined = () => undefined) {
  return z
    .string({
      error: ({ input }) => (input === null ? `is empty. ${remedy}` : wrongType(input, 'text', remedy)),
    })
    .overwrite((given) => given.replaceAll(/\r\n?/g, '\n').trim())
    .superRefine((given, { addIssue }) => {
      if (given === '') addIssue(`is empty. ${remedy}`)
      const control = strayControl.exec(given)
      if (control) {
        const code = control[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
        addIssue(`contains the control character U+${code}. Remove it.`)
      }
      if (!given.isWellFormed()) addIssue('contains half of a surrogate pair. Remove it.')
      const further = furtherProblem(given)
      if (further !== undefined) addIssue(further)
    })
}

/** A text, or a list of texts that become its paragraphs. */
function paragraphs(remedy: string) {
  const isList = (given: unknown): given is string[] =>
    Array.isArray(given) && given.every((part) => typeof part === 'string')
  return z.preprocess((given) => (isList(given) ? given.join('\n\n') : given), text(remedy))
}

function identifier(remedy: string) {
  const rule = 'Use letters, digits, - and _, a letter first, at most 64 characters.'
  return text(remedy, (given) =>
    given === '' || identifierPattern.test(given)
      ? undefined
      : `is ${shown(given)}, which cannot be a name. ${rule}`,
  )
}

/** Edge types, as a sorted set. */
function types() {
  return list(identifier('Give the type a short name such as evidence.'), 'List type names, or leave it out.')
    .superRefine((names, { addIssue }) => {
      for (const name of repeated(names)) addIssue(`lists ${shown(name)} twice. Remove one.`)
    })
    .transform((names) => names.toSorted())
}

function permissions(tools: readonly string[]) {
  const tool = z.unknown().refine((given) => tools.includes(given as string), {
    error: ({ input }) => {
      const remedy = `Use one of ${tools.join(', ')}, or register the tool first.`
      return `is ${shown(input)}, which is not a tool here. ${remedy}`
    },
  })
  return list(tool, 'List tool names, or leave it out for none.')
    .superRefine((names, { addIssue }) => {
      for (const name of repeated(names)) addIssue(`lists ${shown(name)} twice. Remove one.`)
    })
    .transform((names) => (names as string[]).toSorted(compareTools))
    .default([])
}

function repeated(names: readonly unknown[]): Set<unknown> {
  return new Set(names.filter((name, index) => name !== '' && names.indexOf(name) !== index))
}
