import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { awaitGiven } from '../library/given-promise.ts'
import { maxYamlCharacters, readYaml } from '../library/yaml-document.ts'
import { ConfigurationError } from './configuration-error.ts'

const endings = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'] as const
const names = endings.map((ending) => `magic.config.${ending}`)

/** The named configuration file, or the one in a folder. */
export function findConfiguration(given: string): string {
  const place = resolve(given)
  const status = statSync(place, { throwIfNoEntry: false })
  if (status === undefined)
    throw new ConfigurationError(place, 'there is no such file or folder. Check the path.')
  if (!status.isDirectory()) return regularFile(place)
  const [found, second] = names.map((name) => join(place, name)).filter((file) => existsSync(file))
  if (found === undefined)
    throw new ConfigurationError(
      join(place, names[0]!),
      'there is no configuration in this folder. `magic init` writes one, with questions to start from.',
    )
  if (second !== undefined)
    throw new ConfigurationError(found, `${second} is there as well. Remove one, or name the one to use.`)
  return regularFile(found)
}

/** Rejects pipes, because opening one waits for a writer. */
function regularFile(path: string): string {
  if (statSync(path).isFile()) return path
  throw new ConfigurationError(path, 'it is neither a regular file nor a folder. Give the path of one.')
}

/** The file's content, not validated yet. A program is run directly: Node strips its types. */
export async function importConfiguration(file: string): Promise<unknown> {
  // All JSON is YAML.
  if (/\.(json|ya?ml)$/i.test(file)) return parseYaml(file)
  if (!/\.m?[jt]s$/i.test(file))
    throw new ConfigurationError(file, `it must end in ${endings.map((ending) => `.${ending}`).join(', ')}.`)
  const module = await importModule(file)
  if (!Object.hasOwn(module, 'default')) {
    const others = Object.keys(module)
    const found = others.length === 0 ? 'exports nothing' : `exports ${others.join(', ')} but no default`
    throw new ConfigurationError(
      file,
      `it ${found}. Write \`export default { … }\` around the configuration.`,
    )
  }
  try {
    return await settled(file, module['default'], 'its default export is a promise that never settles.')
  } catch (error) {
    throw new ConfigurationError(file, `its promise failed: ${messageOf(error)}.`, { cause: error })
  }
}

/** Awaits a result of user code; `problem` is reported if it never settles. */
export function settled<T>(file: string, given: T | PromiseLike<T>, problem: string): Promise<Awaited<T>> {
  return awaitGiven(given, new ConfigurationError(file, problem).message) as Promise<Awaited<T>>
}

/** Sets variables from a folder's `.env` that are not set yet. Returns the file's path if there was one, never a value. */
export function loadEnvironment(folder: string): string | undefined {
  const file = join(resolve(folder), '.env')
  if (!existsSync(file)) return undefined
  const path = regularFile(file)
  try {
    process.loadEnvFile(path)
  } catch (error) {
    throw unreadable(file, error)
  }
  return file
}

function unreadable(file: string, cause: unknown): ConfigurationError {
  const { code } = cause as NodeJS.ErrnoException
  return new ConfigurationError(file, `it cannot be read (${code}). Check its permissions.`, { cause })
}

async function importModule(file: string): Promise<Record<string, unknown>> {
  try {
    const problem = 'it waits (`await`) outside of any function for a promise that never settles.'
    return await settled(file, import(pathToFileURL(file).href), problem)
  } catch (error) {
    throw new ConfigurationError(file, importProblem(error, file), { cause: error })
  }
}

function importProblem(error: unknown, file: string): string {
  const { code, name, stack = '' } = (error ?? {}) as NodeJS.ErrnoException
  const message = messageOf(error)
  if (code === 'ERR_MODULE_NOT_FOUND') {
    const hint = message.includes("'magic-agents'")
      ? 'Install it here (`npm install magic-agents`), or leave the import out: a configuration is a plain object.'
      : 'Install the package, or check the path; a relative import carries its ending.'
    return `it imports something that does not exist: ${message}. ${hint}`
  }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `${message}${lineIn(stack, file)}: Node runs TypeScript by removing types. Use plain JavaScript there.`
  if (name === 'SyntaxError') return `it has a syntax error${lineIn(stack, file)}: ${message}.`
  return `it fails when run: ${message}${lineIn(stack, file)}.`
}

/** The line in the file where it failed, if the stack shows it. */
function lineIn(stack: string, file: string): string {
  const [, after] = stack.split(`${file}:`, 2)
  const line = after?.match(/^\d+/)?.[0]
  return line === undefined ? '' : ` in line ${line}`
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
}

function parseYaml(file: string): unknown {
  let source: string
  try {
    source = readFileSync(file, 'utf8')
  } catch (error) {
    throw unreadable(file, error)
  }
  if (source.length > maxYamlCharacters)
    throw new ConfigurationError(file, `it has more than ${maxYamlCharacters} characters.`)
  const { value, faults } = readYaml(source)
  if (faults.length === 0) return value
  throw new ConfigurationError(
    file,
    faults.map(({ line, message }) => `line ${line} ${message}`),
  )
}
