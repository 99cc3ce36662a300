import { existsSync, mkdirSync } from 'node:fs'
import { basename } from 'node:path'
import { RunError, type RunFolder } from '../store/run-folder.ts'
import { RunLock } from '../store/run-lock.ts'

/** The right to write into a run's folder, for a new run or one that goes on. */
export class FolderClaim implements Disposable {
  readonly #folder: RunFolder
  readonly #isResumed: boolean
  #lock: RunLock | undefined

  private constructor(folder: RunFolder, isResumed: boolean) {
    this.#folder = folder
    this.#isResumed = isResumed
  }

  /** A second process is refused at once, before a model is asked. A missing folder is created later, by `take`. */
  static async of(folder: RunFolder, isResumed: boolean): Promise<FolderClaim> {
    if (isResumed && !folder.exists)
      throw new RunError(`${folder.path} is no run: there is nothing to resume.`)
    const claim = new FolderClaim(folder, isResumed)
    if (existsSync(folder.path)) await claim.#acquire()
    return claim
  }

  /** Makes the folder where there is none; no other process gets it now. */
  async take(): Promise<void> {
    if (this.#lock !== undefined) return
    mkdirSync(this.#folder.path, { recursive: true })
    await this.#acquire()
  }

  [Symbol.dispose](): void {
    this.#lock?.release()
  }

  async #acquire(): Promise<void> {
    this.#lock = await RunLock.acquire(this.#folder.path)
    if (this.#isResumed) return
    try {
      assertNoRun(this.#folder)
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }
}

function assertNoRun(folder: RunFolder): void {
  // Weights of a run whose record was lost: a new one must neither go on from them nor take their place.
  if (!folder.exists && folder.checkpoints().length > 0)
    throw new RunError(
      `${folder.path} has checkpoints but no run.json. Put a copy of that back to resume, or choose another name.`,
    )
  if (!folder.exists) return
  throw new RunError(
    `${folder.path} is a run already. Resume it (\`magic resume ${basename(folder.path)}\`), or choose another name.`,
  )
}
