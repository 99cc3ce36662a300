import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type KeptEvaluation, keptEvaluations, latestEvaluations } from '../evaluation/compare-evaluations.ts'
import { ranGraphs } from '../evaluation/run-overview.ts'
import { meanOf } from '../evaluation/statistics.ts'
import { tokensIn } from '../models/usage.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import type { UpdateRecord } from '../training/update-record.ts'
import { GrowingLines } from './growing-lines.ts'

/** What the dashboard keeps of an update; the returns and advantages of each decision stay in the file. */
export type FollowedUpdate = ReturnType<typeof followedUpdate>

function followedUpdate(record: UpdateRecord) {
  const { update, at, query, temperature, loss, returns, actions, cost, wallMs, spent } = record
  return {
    ...{ update, at, query, temperature, loss, actions, cost, wallMs, spent },
    /** Null where the update ran no graph. */
    score: ranGraphs(record) ? record.score : null,
    /** Mean return of whole trajectories, that is, of their first decisions; null if there are none. */
    return: returns.length === 0 ? null : meanOf(returns.map(([first = 0]) => first)),
    made: tokensIn(record.made),
    reused: tokensIn(record.reused),
    retries: record.retries ?? 0,
  }
}

/** A run's folder, followed while it changes. Call `refresh` before reading; it reads only what is new. */
export class FollowedRun {
  readonly name: string
  readonly folder: RunFolder
  /** Increases with every change. */
  revision = 0
  updates: FollowedUpdate[] = []
  /** When the trainer last wrote something, in milliseconds. */
  writtenAt = 0
  /** Why it cannot be read. */
  problem: string | undefined
  #record: RunRecord | undefined
  #done = 0
  readonly #lines: GrowingLines
  #seen = ''
  #evaluated: { seen: string; kept: readonly KeptEvaluation[] } = { seen: '', kept: [] }

  constructor(name: string, folder: RunFolder) {
    this.name = name
    this.folder = folder
    this.#lines = new GrowingLines(folder.eventsFile)
  }

  get record(): RunRecord {
    return this.#record!
  }

  /** Updates that have a checkpoint. */
  get done(): number {
    return this.#done
  }

  refresh(): this {
    const { recordFile, eventsFile, callsFile } = this.folder
    const written = [recordFile, eventsFile, callsFile].map(modifiedAt)
    const evaluations = this.#evaluationsSeen()
    const seen = JSON.stringify([written, evaluations, this.folder.checkpoints()])
    if (seen === this.#seen) return this
    this.#seen = seen
    this.revision += 1
    this.writtenAt = Math.max(...written)
    try {
      this.problem = undefined
      this.#record = this.folder.readRecord()
      this.#done = this.folder.checkpoints().at(-1) ?? 0
      const { records, restarted } = this.#lines.read()
      if (restarted) this.updates = []
      for (const record of records as UpdateRecord[])
        if (record.type === 'update') this.updates.push(followedUpdate(record))
      if (evaluations !== this.#evaluated.seen)
        this.#evaluated = { seen: evaluations, kept: keptEvaluations(this.folder, this.name) }
    } catch (error) {
      this.problem = (error as Error).message
      // Try again at the next refresh.
      this.#seen = ''
    }
    return this
  }

  /** One per evaluated thing: a repeated evaluation counts once. */
  get evaluations(): readonly KeptEvaluation[] {
    return latestEvaluations(this.#evaluated.kept)
  }

  #evaluationsSeen(): string {
    const { evaluationsFolder } = this.folder
    if (!existsSync(evaluationsFolder)) return ''
    const folders = readdirSync(evaluationsFolder).sort()
    return folders.map((name) => `${name} ${sizeOf(join(evaluationsFolder, name, 'records.jsonl'))}`).join()
  }
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
