import { dirname, resolve } from 'node:path'
import { awaitGiven } from '../library/given-promise.ts'
import type { Library } from '../library/library.ts'
import { loadLibrary } from '../library/yaml-library.ts'
import { type OwnTaskOptions, type OwnTaskSet, ownTaskSet } from '../tasks/own/own-task-set.ts'
import { ConfigurationError, problemsIn } from './configuration-error.ts'
import { findConfiguration, importConfiguration, loadEnvironment } from './configuration-file.ts'
import { configurationSchema, isBuiltInTaskSet, type MagicConfiguration } from './configuration-schema.ts'

/** A configuration that was read and checked. Paths are absolute. Defaults are not filled in: they would hide a preset's values. */
export interface Configuration extends Omit<MagicConfiguration, 'library'> {
  readonly library?: Library
  /** The file it was read from. */
  readonly file: string
}

/** Gives the configuration back, with its type checked by the editor. */
export function defineConfig(configuration: MagicConfiguration): MagicConfiguration {
  return configuration
}

/**
 * Reads `magic.config.*` of a folder, or a file that is named, after the variables of `.env` beside it. Throws a
 * `ConfigurationError` for what a person can mend.
 */
export async function loadConfiguration(given = '.'): Promise<Configuration> {
  const file = findConfiguration(given)
  loadEnvironment(dirname(file))
  return resolveConfiguration(await importConfiguration(file), file)
}

/**
 * The task set of a configuration that brings its own questions; undefined where it names a built-in set, or none. What is
 * given besides overrides the configuration.
 */
export async function ownTasksOf(
  configuration: Configuration,
  besides: Pick<OwnTaskOptions, 'answer' | 'seed'> = {},
): Promise<OwnTaskSet | undefined> {
  const { tasks: questions, name, answer, tolerance, contract, scorer, library, profile } = configuration
  if (questions === undefined || isBuiltInTaskSet(questions)) return undefined
  const given = { name, answer, tolerance, contract, scorer, library, profile }
  const options = { ...(withoutUndefined(given) as OwnTaskOptions), ...besides }
  if (typeof questions === 'string' || !('load' in questions))
    return ownTaskSet({ ...options, files: questions })
  const problem = new ConfigurationError(configuration.file, [
    'tasks: its `load` gave a promise that never settles.',
  ])
  return awaitGiven(questions.load(options), problem.message)
}

/** Checks a configuration and makes its paths absolute, from the folder of the file. */
export function resolveConfiguration(given: unknown, file: string): Configuration {
  const value = withoutUndefined(given)
  const result = configurationSchema.safeParse(value)
  if (!result.success)
    throw new ConfigurationError(file, problemsIn(result.error.issues, value, configurationSchema))
  // The values as given: what the schemas fill in would hide a preset's settings.
  const configuration = value as MagicConfiguration
  refuseConflicts(configuration, file)
  const folder = dirname(resolve(file))
  const absolute = (relative: string) => resolve(folder, relative)
  const { tasks: questions, library: roles, model, encoder, runsDir, ...rest } = configuration
  return {
    ...rest,
    file: resolve(file),
    tasks: questions && absoluteTasks(questions, absolute),
    library: roles === undefined ? undefined : libraryOf(roles, configuration, absolute),
    model: model && absoluteModel(model, absolute),
    encoder: typeof encoder === 'object' ? { folder: absolute(encoder.folder) } : encoder,
    runsDir: runsDir && absolute(runsDir),
  }
}

/** A field that is undefined counts as absent. */
function withoutUndefined(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined))
    : value
}

type Resolve = (path: string) => string

function absoluteTasks(questions: NonNullable<MagicConfiguration['tasks']>, absolute: Resolve) {
  if (typeof questions === 'string') return isBuiltInTaskSet(questions) ? questions : absolute(questions)
  if ('load' in questions) return questions
  const files = Object.entries(questions).map(([split, file]) => [split, absolute(file)])
  return Object.fromEntries(files) as typeof questions
}

function absoluteModel(model: NonNullable<MagicConfiguration['model']>, absolute: Resolve) {
  if (model === 'simulated' || model.apiKeyFile === undefined) return model
  return { ...model, apiKeyFile: absolute(model.apiKeyFile) }
}

function libraryOf(roles: Library | string, { tools = [] }: MagicConfiguration, absolute: Resolve): Library {
  return typeof roles === 'string'
    ? loadLibrary(absolute(roles), { tools: tools.map(({ name }) => name) })
    : roles
}

/** Fields that only question files of one's own take, and what built-in tasks have instead. */
const fieldsOfOwnTasks: Readonly<Record<string, string>> = {
  answer: 'answers and scoring',
  tolerance: 'answers and scoring',
  contract: 'answers and scoring',
  scorer: 'answers and scoring',
  library: 'roles and tools',
  profile: 'roles and tools',
}

function refuseConflicts({ tasks: questions, tools = [], ...rest }: MagicConfiguration, file: string): void {
  if (isBuiltInTaskSet(questions)) {
    const idle = Object.keys(fieldsOfOwnTasks).find((field) => rest[field as keyof typeof rest] !== undefined)
    if (idle !== undefined)
      throw new ConfigurationError(file, [
        `${idle}: '${questions}' has its own ${fieldsOfOwnTasks[idle]}. Remove the field, or give question files of your own.`,
      ])
  }
  const names = tools.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new ConfigurationError(file, [`tools: two are called '${twice}'. Rename one.`])
}
