import { dirname, resolve } from 'node:path'
import type { Library } from '../library/library.ts'
import { loadLibrary } from '../library/yaml-library.ts'
import { type OwnTaskOptions, type OwnTaskSet, ownTaskSet } from '../tasks/own/own-task-set.ts'
import { ConfigurationError, problemsIn } from './configuration-error.ts'
import { findConfiguration, importConfiguration, loadEnvironment, settled } from './configuration-file.ts'
import { configurationSchema, isBuiltInTaskSet, type MagicConfiguration } from './configuration-schema.ts'

/** A validated configuration. Paths are absolute. Defaults are not filled in, since they would hide a preset's values. */
export interface Configuration extends Omit<MagicConfiguration, 'library'> {
  readonly library?: Library
  /** The file it was read from. */
  readonly file: string
}

/** Returns the configuration unchanged; lets the editor check its type. */
export function defineConfig(configuration: MagicConfiguration): MagicConfiguration {
  return configuration
}

/**
 * Reads `magic.config.*` from a folder, or a named file, after loading `.env` next to it. Throws a
 * `ConfigurationError` for problems the user can fix.
 */
export async function loadConfiguration(given = '.'): Promise<Configuration> {
  const file = findConfiguration(given)
  loadEnvironment(dirname(file))
  return resolveConfiguration(await importConfiguration(file), file)
}

/**
 * The task set of a configuration with its own questions; undefined if it names a built-in set or none. `given`
 * options override the configuration.
 */
export async function ownTasksOf(
  configuration: Configuration,
  besides: Pick<OwnTaskOptions, 'answer' | 'scorer' | 'seed'> = {},
): Promise<OwnTaskSet | undefined> {
  const { tasks, name, tolerance, contract, library, profile, file } = configuration
  if (tasks === undefined || isBuiltInTaskSet(tasks)) return undefined
  const { answer = configuration.answer, scorer = configuration.scorer, seed } = besides
  const options = { name, answer, seed, tolerance, contract, scorer, library, profile }
  if (typeof tasks === 'string' || !('load' in tasks)) return ownTaskSet({ ...options, files: tasks })
  return settled(file, tasks.load(options), 'tasks: its `load` returned a promise that never settles.')
}

/** Checks a configuration and makes its paths absolute, relative to the file's folder. */
export function resolveConfiguration(given: unknown, file: string): Configuration {
  const { success, error } = configurationSchema.safeParse(given, { reportInput: true })
  if (!success) throw new ConfigurationError(file, problemsIn(error.issues, configurationSchema))
  // The values as given: schema defaults would hide a preset's settings.
  const { tasks, library, model, models, encoder, runsDir, ...rest } = given as MagicConfiguration
  const absolute = (path: string) => resolve(dirname(resolve(file)), path)
  const toolNames = rest.tools?.map(({ name }) => name) ?? []
  const configuration = {
    ...rest,
    file: resolve(file),
    tasks: tasks && absoluteTasks(tasks, absolute),
    library: typeof library === 'string' ? loadLibrary(absolute(library), { tools: toolNames }) : library,
    model: model && withAbsoluteKey(model, absolute),
    models:
      models &&
      Object.fromEntries(Object.entries(models).map(([name, one]) => [name, withAbsoluteKey(one, absolute)])),
    encoder: typeof encoder === 'object' ? { folder: absolute(encoder.folder) } : encoder,
    runsDir: runsDir && absolute(runsDir),
  }
  refuseConflicts(configuration, toolNames)
  return configuration
}

function withAbsoluteKey<Model extends 'simulated' | { readonly apiKeyFile?: string }>(
  model: Model,
  absolute: (path: string) => string,
): Model {
  if (typeof model === 'string' || model.apiKeyFile === undefined) return model
  return { ...(model as object), apiKeyFile: absolute(model.apiKeyFile) } as Model
}

function absoluteTasks(tasks: NonNullable<MagicConfiguration['tasks']>, absolute: (path: string) => string) {
  if (typeof tasks === 'string') return isBuiltInTaskSet(tasks) ? tasks : absolute(tasks)
  if ('load' in tasks) return tasks
  const files = Object.entries(tasks).map(([split, file]) => [split, absolute(file)])
  return Object.fromEntries(files) as typeof tasks
}

/** Fields that only apply to the user's own question files, and what built-in tasks have instead. */
const fieldsOfOwnTasks = {
  answer: 'answers and scoring',
  tolerance: 'answers and scoring',
  contract: 'answers and scoring',
  scorer: 'answers and scoring',
  library: 'roles and tools',
  profile: 'roles and tools',
} as const

function refuseConflicts(configuration: Configuration, toolNames: readonly string[]): void {
  const { tasks, file } = configuration
  const idle = Object.entries(fieldsOfOwnTasks).find(
    ([field]) => configuration[field as keyof typeof fieldsOfOwnTasks] !== undefined,
  )
  if (isBuiltInTaskSet(tasks) && idle !== undefined)
    throw new ConfigurationError(
      file,
      `${idle[0]}: '${tasks}' has its own ${idle[1]}. Remove the field, or give question files of your own.`,
    )
  const twice = toolNames.find((name, index) => toolNames.indexOf(name) !== index)
  if (twice !== undefined) throw new ConfigurationError(file, `tools: two are called '${twice}'. Rename one.`)
}
