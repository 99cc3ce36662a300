import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import type { JsonObject } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import { loadLibrary, toYaml } from '../library/yaml-library.ts'
import { Problem } from '../problem.ts'
import { budgetSettings } from '../settings/budget.ts'
import { recordedTrainingSettings } from '../settings/training.ts'
import {
  type Checkpoint,
  type CheckpointIdentity,
  readCheckpoint,
  readCheckpointState,
  writeCheckpoint,
} from './checkpoint.ts'
import { DiskError } from './disk-error.ts'
import { syncFolder, writeWhole } from './durable-file.ts'
import { currentFolder } from './replace-folder.ts'
import { runToolsSchema } from './run-tools.ts'

const json = z.record(z.string(), z.json())
const identity = z.object({ provider: z.string(), model: z.string(), options: json })
const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** `run.json`: everything that decides a run's numbers, as resolved when the run began. */
const runRecordSchema = z.object({
  format: z.literal('magic-run-1'),
  name: z.string(),
  createdAt: z.string(),
  /** Version of this software. */
  version: z.string(),
  /** How the command line finds tasks and model again; missing if the run was started from code. */
  source: json.optional(),
  tasks: z.object({
    name: z.string(),
    title: z.string(),
    metric: z.string(),
    /** The instructions of a model that judges answers. */
    judge: z.string().optional(),
    splits: z.record(z.string(), z.object({ tasks: z.int(), version: digest })),
  }),
  library: digest,
  profile: z.object({ id: z.string(), roles: z.array(z.string()), tools: z.array(z.string()) }),
  /** The profile's tools that were available; missing in runs of earlier versions. */
  tools: runToolsSchema.optional(),
  encoder: z.object({ name: z.string(), fingerprint: z.string() }),
  model: identity,
  /** Further models by name, for systems that choose one per agent. */
  models: z.record(z.string(), identity).optional(),
  /** Per answer contract. */
  executors: z.record(z.string(), digest),
  execution: json,
  training: recordedTrainingSettings,
  /** The organisation that learns; absent if the policy does. */
  organisation: z.object({ name: z.string(), options: json }).optional(),
  budget: budgetSettings,
  concurrency: z.int().positive(),
  arithmetic: z.enum(['fused', 'separate']),
  /** Number of updates of the finished run. */
  updates: z.int().nonnegative(),
})

/** The part of `membership.json` we need: the ids of every split, in order. */
const membershipSchema = z.object({ splits: z.record(z.string(), z.array(z.string())) })

const contractsSchema: z.ZodType<Record<string, JsonObject>> = z.record(z.string(), json)

/** What a run's folder stores about its task set. */
interface RunTasks {
  readonly membership: unknown
  readonly library: Library
  readonly contracts: Readonly<Record<string, JsonObject>>
}

export type Membership = z.output<typeof membershipSchema>

export type RunRecord = z.output<typeof runRecordSchema>

/** Fields of `run.json` that a resume may change, since they do not affect the weights. The rest is written once. */
const changeable = ['name', 'createdAt', 'version', 'source', 'budget', 'concurrency', 'execution'] as const

/** The part of a record that decides a run's numbers. */
export function decidingPart<Content extends object>(
  record: Content,
): Omit<Content, (typeof changeable)[number]> {
  const copy: Partial<Record<string, unknown>> = { ...record }
  for (const field of changeable) delete copy[field]
  return copy as Omit<Content, (typeof changeable)[number]>
}

const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/
const keptCheckpoints = 2

/** The folder of one run and its file names. */
export class RunFolder {
  readonly path: string
  readonly recordFile: string
  readonly eventsFile: string
  readonly trajectoriesFile: string
  /** Evaluations taken from earlier runs at the start; most runs have none. */
  readonly earlierLooksFile: string
  readonly ledgerFile: string
  /** If the ledger is on a PostgreSQL: its name there. */
  readonly ledgerPlaceFile: string
  readonly callsFile: string
  /** Used by earlier versions instead of `callsFile`. */
  readonly earlierCallsFile: string
  readonly membershipFile: string
  readonly libraryFile: string
  /** The answer contracts as data; missing in runs of earlier versions. */
  readonly contractsFile: string
  readonly evaluationsFolder: string
  /** Journals of calls made by searches for a fixed graph. */
  readonly searchesFolder: string
  readonly #checkpointsFolder: string

  constructor(path: string) {
    this.path = resolve(path)
    this.recordFile = join(this.path, 'run.json')
    this.eventsFile = join(this.path, 'events.jsonl')
    this.trajectoriesFile = join(this.path, 'trajectories.jsonl')
    this.earlierLooksFile = join(this.path, 'earlier-looks.jsonl')
    this.ledgerFile = join(this.path, 'ledger.sqlite')
    this.ledgerPlaceFile = join(this.path, 'ledger.json')
    this.callsFile = join(this.path, 'calls.jsonl')
    this.earlierCallsFile = join(this.path, 'calls.log')
    this.membershipFile = join(this.path, 'membership.json')
    this.libraryFile = join(this.path, 'library.yaml')
    this.contractsFile = join(this.path, 'contracts.json')
    this.evaluationsFolder = join(this.path, 'evaluations')
    this.searchesFolder = join(this.path, 'searches')
    this.#checkpointsFolder = join(this.path, 'checkpoints')
  }

  get exists(): boolean {
    return existsSync(this.recordFile)
  }

  /** Creates the folder with its record, reusing what a run killed at its very start left. */
  create(record: RunRecord, tasks: RunTasks): void {
    mkdirSync(this.#checkpointsFolder, { recursive: true })
    this.writeTasks(tasks)
    this.#writeRecord(record)
    syncFolder(resolve(this.path, '..'))
  }

  writeTasks({ membership, library, contracts }: RunTasks): void {
    writeWhole(this.membershipFile, `${JSON.stringify(membership, null, 2)}\n`)
    writeWhole(this.libraryFile, toYaml(library))
    writeWhole(this.contractsFile, `${JSON.stringify(contracts, null, 2)}\n`)
  }

  /** Updates the fields that a resume may change. */
  updateRecord(now: RunRecord): void {
    const fields = changeable.filter((field) => field !== 'createdAt' && now[field] !== undefined)
    const changes = Object.fromEntries(fields.map((field) => [field, now[field]]))
    this.#writeRecord({ ...this.#read(this.recordFile, json), ...changes })
  }

  readRecord(): RunRecord {
    return this.#read(this.recordFile, runRecordSchema)
  }

  /** Everything that decides the run's numbers, as written; `readRecord` may fill in defaults. */
  readSettings(): JsonObject {
    return decidingPart(this.#read(this.recordFile, json))
  }

  readMembership(): Membership {
    return this.#read(this.membershipFile, membershipSchema)
  }

  /** Descriptions of the answer contracts by name. Undefined for runs of earlier versions. */
  readContracts(): Readonly<Record<string, JsonObject>> | undefined {
    return existsSync(this.contractsFile) ? this.#read(this.contractsFile, contractsSchema) : undefined
  }

  /** The roles the run was trained with, so that a policy can be used without its task set. */
  readLibrary({ library: expected, profile }: Pick<RunRecord, 'library' | 'profile'>): Library {
    const library = loadLibrary(this.libraryFile, { tools: profile.tools })
    if (library.fingerprint === expected) return library
    throw new RunError(`${this.libraryFile} was changed after the run began, so its policy no longer fits.`)
  }

  /**
   * Keeps the newest two checkpoints and those of the updates in `kept`. The second newest is a fallback if the
   * newest is damaged.
   */
  async writeCheckpoint(checkpoint: Checkpoint, kept: ReadonlySet<number> = new Set()): Promise<void> {
    await writeCheckpoint(this.#checkpointFolder(checkpoint.update), checkpoint)
    this.#remove(
      this.checkpoints()
        .slice(0, -keptCheckpoints)
        .filter((update) => !kept.has(update)),
    )
  }

  /** Removes the checkpoints after the one a run resumes from; they will be made again. */
  removeCheckpointsAfter(update: number): void {
    this.#remove(this.checkpoints().filter((other) => other > update))
  }

  /** The updates that have checkpoints, in order. */
  checkpoints(): number[] {
    if (!existsSync(this.#checkpointsFolder)) return []
    const updates = readdirSync(this.#checkpointsFolder)
      .map((name) => /^update-(\d{6,})$|^\.update-(\d{6,})\.replaced$/.exec(name))
      .flatMap((match) => (match === null ? [] : [Number(match[1] ?? match[2])]))
    return [...new Set(updates)].sort((a, b) => a - b)
  }

  /** The newest checkpoint, or the given one. The error for a damaged checkpoint names the one before it. */
  readCheckpoint(
    expected: Partial<CheckpointIdentity>,
    update = this.checkpoints().at(-1),
  ): Checkpoint | undefined {
    if (update === undefined) return undefined
    return this.#offeringEarlier(update, () => readCheckpoint(this.#checkpointFolder(update), expected))
  }

  /** A checkpoint's state, without its weights. */
  readCheckpointState(update: number): ReturnType<typeof readCheckpointState> {
    return this.#offeringEarlier(update, () => readCheckpointState(this.#checkpointFolder(update)))
  }

  checkpointPath(update: number): string {
    return currentFolder(this.#checkpointFolder(update))
  }

  #offeringEarlier<Content>(update: number, read: () => Content): Content {
    try {
      return read()
    } catch (error) {
      const before = this.checkpoints().findLast((other) => other < update)
      const remedy =
        before === undefined
          ? 'There is no earlier one: delete it to start over; what was paid for stays in the ledger.'
          : `There is one of update ${before}: resume with --from-update ${before}; what was paid for stays in the ledger.`
      throw new RunError(`${(error as Error).message} ${remedy}`, { cause: error })
    }
  }

  /** Renames first, so that readers never see half a checkpoint. Leftovers of a kill are removed next time. */
  #remove(updates: readonly number[]): void {
    const folder = this.#checkpointsFolder
    try {
      for (const update of updates) {
        const removed = join(folder, `.${folderName(update)}.removed`)
        rmSync(removed, { recursive: true, force: true })
        renameSync(this.checkpointPath(update), removed)
      }
      for (const name of readdirSync(folder))
        if (name.endsWith('.removed')) rmSync(join(folder, name), { recursive: true, force: true })
    } catch (error) {
      throw new DiskError(folder, 0, error as NodeJS.ErrnoException)
    }
  }

  #writeRecord(record: unknown): void {
    // Validated, so that nothing unreadable is ever written.
    runRecordSchema.parse(record)
    writeWhole(this.recordFile, `${JSON.stringify(record, null, 2)}\n`)
  }

  #read<Content>(path: string, schema: z.ZodType<Content>): Content {
    let content: unknown
    try {
      content = JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' && !this.exists)
        throw new RunError(`${this.path} is not a run: it has no run.json.`)
      throw new RunError(`${path} cannot be read (${code ?? message}). Restore it from a copy.`)
    }
    const parsed = schema.safeParse(content)
    if (parsed.success) return parsed.data
    throw new RunError(`${path} is damaged or of another version.\n${z.prettifyError(parsed.error)}`)
  }

  #checkpointFolder(update: number): string {
    return join(this.#checkpointsFolder, folderName(update))
  }
}

function folderName(update: number): string {
  return `update-${String(update).padStart(6, '0')}`
}

/** `MAGIC_RUNS_DIR`, else `runs` in the current folder. */
export function defaultRunsFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['MAGIC_RUNS_DIR'] || 'runs'
}

/** Finds a run by name or path. A name never leads out of the runs folder, not even through a link. */
export function findRun(name: string, runs: string = defaultRunsFolder()): RunFolder {
  if (name.includes('/') || isAbsolute(name)) return new RunFolder(name)
  assertRunName(name)
  const path = join(runs, name)
  if (leadsOut(path, runs))
    throw new RunError(`${path} leads outside the runs folder. Give the run's path instead.`)
  return new RunFolder(path)
}

function leadsOut(path: string, runs: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false
  // A dangling link: something may be put there later.
  if (!existsSync(path)) return true
  const inside = relative(realpathSync(runs), realpathSync(path))
  return inside.startsWith('..') || isAbsolute(inside)
}

export function assertRunName(name: string): void {
  if (!namePattern.test(name) || name.includes('..'))
    throw new RunError(
      `'${name.slice(0, 80)}' is not a valid run name: use 1 to 64 lower-case letters, digits, '.', '_' and '-', starting with a letter or digit.`,
    )
}

/** A problem with a run that the user can fix; the message says how. */
export class RunError extends Problem {
  /** Takes the cause's exit code, if it has one, because it is more specific. */
  constructor(message: string, { cause }: ErrorOptions = {}) {
    super(message, { cause, exitCode: cause instanceof Problem ? cause.exitCode : undefined })
  }
}
