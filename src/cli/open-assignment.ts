import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openToolbox } from '../execution/toolbox.ts'
import { exitCode, Problem, validated } from '../problem.ts'
import { executionSettings } from '../settings/execution.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { sandboxOfRun } from '../store/run-tools.ts'
import type { Assignment } from '../workers/assignment.ts'
import type { OpenedAssignment, OpeningMeans } from '../workers/served-assignments.ts'
import { type ModelOptions, type ModelSource, modelSource, openChosenModel } from './options/model-options.ts'
import { openTasks, type TaskSource } from './options/task-options.ts'

export interface AssignmentOptions extends ModelOptions {
  readonly config?: string
  readonly data?: string
}

/**
 * Opens what a trainer submits work for. The database says which tasks and which model; where code, data, model and key are, only
 * this machine's own flags, configuration and environment say: whoever can write to the database must not lead a worker elsewhere.
 */
export async function openAssignment(
  { source, parts, files }: Assignment,
  { limit, file }: OpeningMeans,
  options: AssignmentOptions,
): Promise<OpenedAssignment> {
  if (source === undefined) throw new Problem('the run was begun from code: start its workers from code, too')
  const { tasks, model } = source as unknown as { tasks: TaskSource; model: ModelSource }
  const folder = mkdtempSync(join(tmpdir(), 'magic-worker-'))
  const close = async () => rmSync(folder, { recursive: true, force: true })
  try {
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
    const opened = await openChosenModel(
      options,
      knownTasks(set),
      ownModel(model, options, configuration?.model),
    )
    const own = (configuration?.tools ?? []).filter(({ name }) => parts.tools.off[name] === undefined)
    const tools = openToolbox(await sandboxOfRun(parts.tools), own)
    const settings = validated(executionSettings, parts.execution, 'execution')
    return {
      parts: { set, model: opened.model, tools, settings, limit },
      close: async () => {
        await opened.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function ownConfiguration({ config }: AssignmentOptions): string {
  if (config !== undefined) return config
  if (readdirSync('.').some((name) => name.startsWith('magic.config.')) && existsSync('.')) return '.'
  throw new Problem(
    'the run has a configuration (magic.config.*) and this worker has none: name its own with --config',
  )
}

/** The worker's own model. Where it names none, the simulated one, or the provider at the address that is known for it. */
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
      `the run asks ${preset ?? 'a model'} at an address of its own: say with --base-url where this worker finds it`,
      { exitCode: exitCode.usage },
    )
  return modelSource(options, { preset, model, extraBody })
}
