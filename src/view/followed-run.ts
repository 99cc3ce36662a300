import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type KeptEvaluation, keptEvaluations, latestEvaluations } from '../evaluation/compare-evaluations.ts'
import { meanOf } from '../evaluation/statistics.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import type { TokenCount, UpdateRecord } from '../training/update-record.ts'
import { GrowingLines } from './growing-lines.ts'

/** What the dashboard keeps of an update; the returns and advantages of every decision stay in the file. */
export type FollowedUpdate = ReturnType<typeof followedUpdate>

function followedUpdate(record: UpdateRecord) {
  const { update, at, query, score, temperature, loss, returns, actions, cost, wallMs, boundMs, spent } =
    record
  return {
    ...{ update, at, query, score, temperature, loss, actions, cost, wallMs, boundMs, spent },
    /** Of whole trajectories: the first decision's. */
    // A system that is no policy has none.
    return: returns.length === 0 ? 0 : meanOf(returns.map(([first = 0]) => first)),
    made: tokensIn(record.made),
    reused: tokensIn(record.reused),
  }
}

export function tokensIn({ input, output }: Pick<TokenCount, 'input' | 'output'>): number {
  return input + output
}

/** A run's folder as it changes. Whoever looks calls `refresh` first; only what is new is read. */
export class FollowedRun {
  readonly name: string
  readonly folder: RunFolder
  /** Raised whenever something has changed. */
  revision = 0
  updates: FollowedUpdate[] = []
  /** When its trainer last wrote something, in milliseconds. */
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

  /** Updates whose weights are kept. */
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
        this.#evaluated = { seen: evaluations, kept: keptEvaluations(this.folder, this.#record.name) }
    } catch (error) {
      this.problem = (error as Error).message
      // The next look must not take it for read.
      this.#seen = ''
    }
    return this
  }

  /** Of evaluations of the very same thing the one that counts. */
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
