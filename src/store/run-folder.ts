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
const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** `run.json`: all that decides a run's numbers, as it was resolved when the run began. */
const runRecordSchema = z.object({
  format: z.literal('magic-run-1'),
  name: z.string(),
  createdAt: z.string(),
  /** Of this software. */
  version: z.string(),
  /** How the command line finds tasks and model again; a run that was started from code has none. */
  source: json.optional(),
  tasks: z.object({
    name: z.string(),
    title: z.string(),
    metric: z.string(),
    /** What a language model that judges answers is told. */
    judge: z.string().optional(),
    splits: z.record(z.string(), z.object({ tasks: z.int(), version: digest })),
  }),
  library: digest,
  profile: z.object({ id: z.string(), roles: z.array(z.string()), tools: z.array(z.string()) }),
  /** Of the profile's, those that there were; runs of earlier versions do not tell. */
  tools: runToolsSchema.optional(),
  encoder: z.object({ name: z.string(), fingerprint: z.string() }),
  model: z.object({ provider: z.string(), model: z.string(), options: json }),
  /** Per answer contract. */
  executors: z.record(z.string(), digest),
  execution: json,
  training: recordedTrainingSettings,
  /** What learns in the policy's place; absent where the policy does. */
  organisation: z.object({ name: z.string(), options: json }).optional(),
  budget: budgetSettings,
  concurrency: z.int().positive(),
  arithmetic: z.enum(['fused', 'separate']),
  /** Updates that the run has when it is finished. */
  updates: z.int().nonnegative(),
})

/** `membership.json`, as far as anybody here needs it: the ids of every split, in order. */
const membershipSchema = z.object({ splits: z.record(z.string(), z.array(z.string())) })

const contractsSchema: z.ZodType<Record<string, JsonObject>> = z.record(z.string(), json)

/** What a run's folder keeps of its task set. */
interface RunTasks {
  readonly membership: unknown
  readonly library: Library
  readonly contracts: Readonly<Record<string, JsonObject>>
}

export type Membership = z.output<typeof membershipSchema>

export type RunRecord = z.output<typeof runRecordSchema>

/** What a resume may change in `run.json`: it has no part in the weights. All else is written once. */
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

/** The folder of one run and the names of what lies in it. */
export class RunFolder {
  readonly path: string
  readonly recordFile: string
  readonly eventsFile: string
  readonly trajectoriesFile: string
  /** What a run knew of earlier ones when it began; most have none. */
  readonly earlierLooksFile: string
  readonly ledgerFile: string
  /** Where the ledger is on a PostgreSQL: which one of that it is. */
  readonly ledgerPlaceFile: string
  readonly callsFile: string
  /** What earlier versions had in the place of `callsFile`. */
  readonly earlierCallsFile: string
  readonly membershipFile: string
  readonly libraryFile: string
  /** The forms of answers, as data; runs of earlier versions have none. */
  readonly contractsFile: string
  readonly evaluationsFolder: string
  /** What searches for a fixed graph have called. */
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

  /** Makes the folder with its record; what a run killed at its very start has left is taken over. */
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

  /** Takes over what a resume may change. */
  updateRecord(now: RunRecord): void {
    const fields = changeable.filter((field) => field !== 'createdAt' && now[field] !== undefined)
    const changes = Object.fromEntries(fields.map((field) => [field, now[field]]))
    this.#writeRecord({ ...this.#read(this.recordFile, json), ...changes })
  }

  readRecord(): RunRecord {
    return this.#read(this.recordFile, runRecordSchema)
  }

  /** All that decides the run's numbers, as it was written; a later version may read defaults into it. */
  readSettings(): JsonObject {
    return decidingPart(this.#read(this.recordFile, json))
  }

  readMembership(): Membership {
    return this.#read(this.membershipFile, membershipSchema)
  }

  /** Descriptions of the answer contracts by name; nothing where an earlier version began the run. */
  readContracts(): Readonly<Record<string, JsonObject>> | undefined {
    return existsSync(this.contractsFile) ? this.#read(this.contractsFile, contractsSchema) : undefined
  }

  /** The roles that the run was trained with, as they were then; so a policy can be used without its task set. */
  readLibrary({ library: expected, profile }: Pick<RunRecord, 'library' | 'profile'>): Library {
    const library = loadLibrary(this.libraryFile, { tools: profile.tools })
    if (library.fingerprint === expected) return library
    throw new RunError(
      `${this.libraryFile} was changed after the run had begun: its policy does not fit it any more.`,
    )
  }

  /**
   * Keeps the newest checkpoints, and those of the updates in `kept`. The one before the last is there for when the last is
   * damaged.
   */
  async writeCheckpoint(checkpoint: Checkpoint, kept: ReadonlySet<number> = new Set()): Promise<void> {
    await writeCheckpoint(this.#checkpointFolder(checkpoint.update), checkpoint)
    this.#remove(
      this.checkpoints()
        .slice(0, -keptCheckpoints)
        .filter((update) => !kept.has(update)),
    )
  }

  /** For a run that goes on from an earlier one: what it goes on to is made again. */
  removeCheckpointsAfter(update: number): void {
    this.#remove(this.checkpoints().filter((other) => other > update))
  }

  /** The updates of which there are checkpoints, in order. */
  checkpoints(): number[] {
    if (!existsSync(this.#checkpointsFolder)) return []
    const updates = readdirSync(this.#checkpointsFolder)
      .map((name) => /^update-(\d{6,})$|^\.update-(\d{6,})\.replaced$/.exec(name))
      .flatMap((match) => (match === null ? [] : [Number(match[1] ?? match[2])]))
    return [...new Set(updates)].sort((a, b) => a - b)
  }

  /** The newest checkpoint, or an older one on demand. One that is damaged is refused, and the one before it offered. */
  readCheckpoint(
    expected: Partial<CheckpointIdentity>,
    update = this.checkpoints().at(-1),
  ): Checkpoint | undefined {
    if (update === undefined) return undefined
    return this.#offeringEarlier(update, () => readCheckpoint(this.#checkpointFolder(update), expected))
  }

  /** A checkpoint's side file, without its weights. */
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
          ? 'There is no earlier one: delete it to begin again; what was paid for stays in the ledger.'
          : `There is one of update ${before}: resume with --from-update ${before}; what was paid for stays in the ledger.`
      throw new RunError(`${(error as Error).message} ${remedy}`, { cause: error })
    }
  }

  /** Renames first, so that readers never see half of one; what a kill leaves behind is removed the next time. */
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
    // Looked at, because what could not be read back must not be written.
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
      throw new RunError(`${path} cannot be read (${code ?? message}). Put a copy of it in its place.`)
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

/** `MAGIC_RUNS_DIR`, else `runs` beside the work at hand. */
export function defaultRunsFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['MAGIC_RUNS_DIR'] || 'runs'
}

/** The folder of a run by its name, or by a path to it. A name never leads out of the runs folder, not even by a link. */
export function findRun(name: string, runs: string = defaultRunsFolder()): RunFolder {
  if (name.includes('/') || isAbsolute(name)) return new RunFolder(name)
  assertRunName(name)
  const path = join(runs, name)
  if (leadsOut(path, runs))
    throw new RunError(`${path} leads out of the runs folder. Name the run by its path.`)
  return new RunFolder(path)
}

function leadsOut(path: string, runs: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false
  // A link to nowhere yet: something may be put there later.
  if (!existsSync(path)) return true
  const inside = relative(realpathSync(runs), realpathSync(path))
  return inside.startsWith('..') || isAbsolute(inside)
}

export function assertRunName(name: string): void {
  if (!namePattern.test(name) || name.includes('..'))
    throw new RunError(
      `'${name.slice(0, 80)}' is no name of a run: 1 to 64 lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit.`,
    )
}

/** Something about a run that a person can mend; the message says how. */
export class RunError extends Problem {
  /** The exit code is the cause's, if it has one: why a run ended says more than that it ended. */
  constructor(message: string, { cause }: ErrorOptions = {}) {
    super(message, { cause, exitCode: cause instanceof Problem ? cause.exitCode : undefined })
  }
}
