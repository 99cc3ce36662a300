import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Configuration } from '../configuration/configuration.ts'
import { openToolbox } from '../execution/toolbox.ts'
import type { ModelSettings } from '../models/open-model.ts'
import { exitCode, Problem, validated } from '../problem.ts'
import { executionSettings } from '../settings/execution.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { sandboxOfRun } from '../store/run-tools.ts'
import type { Assignment } from '../workers/assignment.ts'
import type { OpenedAssignment, OpeningMeans } from '../workers/served-assignments.ts'
import { type ModelOptions, type ModelSource, modelSource, openChosenModel } from './options/model-options.ts'
import { openPool, type PoolSource, poolSource } from './options/model-pool.ts'
import { openTasks, type TaskSource } from './options/task-options.ts'

export interface AssignmentOptions extends ModelOptions {
  readonly config?: string
  readonly data?: string
}

/**
 * Opens the tasks and the model that a trainer submits work for. The database only names them. Where code, data, endpoint and
 * key are, this machine's flags, configuration and environment decide, so that nobody can redirect a worker through the database.
 */
export async function openAssignment(
  { source, parts, files }: Assignment,
  { limit, file }: OpeningMeans,
  options: AssignmentOptions,
): Promise<OpenedAssignment> {
  if (source === undefined)
    throw new Problem('the run was started from code: start its workers from code, too')
  const { tasks, model, models } = source as unknown as {
    tasks: TaskSource
    model: ModelSource
    models?: PoolSource
  }
  const folder = mkdtempSync(join(tmpdir(), 'magic-worker-'))
  await using opening = new AsyncDisposableStack()
  opening.defer(() => rmSync(folder, { recursive: true, force: true }))
  const places = new Map<string, string>()
  for (const { path, sha256, name } of files) {
    const place = join(folder, sha256, basename(name))
    mkdirSync(join(folder, sha256))
    writeFileSync(place, await file(sha256))
    places.set(path, place)
  }
  const named = tasks.tasks === undefined ? undefined : (places.get(tasks.tasks) ?? tasks.tasks)
  const config = tasks.config === undefined ? undefined : ownConfiguration(options)
  const { set, configuration } = await openTasks({ ...tasks, tasks: named, config, data: options.data })
  const known = knownTasks(set)
  const chosen = ownModel(model, options, configuration?.model)
  const opened = opening.use(await openChosenModel(options, known, chosen))
  const pool = opening.use(await openPool(models && ownPool(models, configuration?.models), known))
  const own = (configuration?.tools ?? []).filter(({ name }) => parts.tools.off[name] === undefined)
  const tools = openToolbox(await sandboxOfRun(parts.tools), own)
  const settings = validated(executionSettings, parts.execution, 'execution')
  const all = opening.move()
  return {
    parts: { set, model: opened.model, models: pool.models, tools, settings, limit },
    close: () => all.disposeAsync(),
  }
}

function ownConfiguration({ config }: AssignmentOptions): string {
  if (config !== undefined) return config
  if (readdirSync('.').some((name) => name.startsWith('magic.config.')) && existsSync('.')) return '.'
  throw new Problem('the run uses a magic.config.* file: give this worker its own copy with --config')
}

/** The worker's own model. If it names none: the simulated one, or the run's provider at its well-known address. */
function ownModel(
  theirs: ModelSource,
  options: AssignmentOptions,
  configured: Parameters<typeof modelSource>[1],
): ModelSource {
  const isNamed = options.model !== undefined || options.replay !== undefined || configured !== undefined
  if (isNamed) return modelSource(options, configured)
  if (theirs.kind === 'simulated') return theirs
  const { preset, model, baseURL, extraBody } = theirs.settings
  if (baseURL !== undefined && options.baseUrl === undefined)
    throw new Problem(
      `the run calls ${preset ?? 'a model'} at its own address: tell this worker the address with --base-url`,
      { exitCode: exitCode.usage },
    )
  return modelSource(options, { preset, model, extraBody })
}

/** The same for further models. */
function ownPool(theirs: PoolSource, configured: Configuration['models']): PoolSource {
  if (configured !== undefined) return poolSource({}, configured)!
  const elsewhere = Object.entries(theirs).find(
    ([, { source }]) => source.kind === 'endpoint' && source.settings.baseURL !== undefined,
  )
  // Where keys are is this machine's matter.
  const known = ({ preset, model, extraBody }: ModelSettings) => ({ preset, model, extraBody })
  const named = ({ source }: PoolSource[string]) => ({
    source: source.kind === 'simulated' ? source : { ...source, settings: known(source.settings) },
  })
  if (elsewhere === undefined)
    return Object.fromEntries(Object.entries(theirs).map(([name, one]) => [name, named(one)]))
  throw new Problem(
    `the run calls ${elsewhere[0]} at its own address: give this worker a configuration with \`models\``,
    { exitCode: exitCode.usage },
  )
}
