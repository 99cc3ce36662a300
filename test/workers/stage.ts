import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LoggedServer } from '../crash/processes.ts'
import { outcome } from '../crash/small-training.ts'
import { SilentProxy } from '../postgres/proxy.ts'
import { Postgres } from '../postgres/server.ts'
import { trainByWorkers } from './small-training.ts'
import type { WorkerSettings } from './worker-process.ts'

export const faults = ['kill', 'stop', 'cut', 'restart', 'crash', 'duplicate', 'trainer'] as const
export type Fault = (typeof faults)[number]

const calls = 4
const leaseSeconds = 2
const script = (name: string) => new URL(name, import.meta.url).pathname

export interface PointReport {
  readonly repeated: number
  readonly asked: number
}

/**
 * A PostgreSQL, a model that writes down what it was asked, and two workers, one of them behind a network that can fall silent.
 * On it trainings run in which something goes wrong.
 */
export class Stage {
  readonly #work = mkdtempSync(join(tmpdir(), 'magic-workers-'))
  readonly #postgres: Postgres
  readonly #proxy: SilentProxy
  readonly #server: LoggedServer
  readonly #address: string
  readonly #workers: ChildProcess[] = []
  #expected: ReadonlyMap<string, string> = new Map()
  #points = 0

  private constructor(postgres: Postgres, proxy: SilentProxy, server: LoggedServer, address: string) {
    this.#postgres = postgres
    this.#proxy = proxy
    this.#server = server
    this.#address = address
  }

  static async open(): Promise<Stage> {
    const postgres = await Postgres.start({ durable: true })
    const proxy = await SilentProxy.start(postgres.port)
    const log = join(mkdtempSync(join(tmpdir(), 'magic-log-')), 'server.log')
    const server = await LoggedServer.start(log, { latencyMs: 20 })
    const stage = new Stage(postgres, proxy, server, await postgres.database())
    const alone = join(stage.#work, 'alone')
    await trainByWorkers(alone, undefined, server.url)
    stage.#expected = outcome(alone)
    stage.#start(0)
    stage.#start(1)
    return stage
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) worker.kill('SIGKILL')
    await this.#server.close()
    await this.#proxy.stop()
    await this.#postgres.stop()
    rmSync(this.#work, { recursive: true, force: true })
  }

  /**
   * A training in which this happens after so many calls. Throws unless it ends with the very weights of an undisturbed one, all
   * that was asked is counted, and no more is asked twice than was in flight where the fault struck.
   */
  async point(fault: Fault, after: number): Promise<PointReport> {
    this.#points += 1
    const before = this.#server.log('asked').length
    const folder = join(this.#work, `run-${this.#points}`)
    const struck = async () => {
      while (this.#server.log('asked').length - before < after) await sleep(5)
    }
    const { spent, at } =
      fault === 'trainer'
        ? await this.#killTrainer(folder, struck)
        : await this.#disturbed(folder, struck, fault)
    for (const [file, content] of outcome(at))
      if (content !== this.#expected.get(file))
        throw new Error(`${file} is another one than without the fault`)
    const asked = this.#server.log('asked').slice(before)
    const repeated = asked.length - new Set(asked).size
    const most = fault === 'duplicate' || fault === 'trainer' ? 0 : calls
    if (repeated > most)
      throw new Error(`${repeated} calls were repeated; at most ${most} can have been in flight`)
    // A call whose caller is gone counts only once it cannot be answered any more.
    const counted = spent.calls + spent.unknown + most
    if (counted < asked.length)
      throw new Error(
        `${asked.length} calls were asked, and ${counted} are counted (${spent.unknown} unknown)`,
      )
    return { repeated, asked: asked.length }
  }

  async #disturbed(folder: string, struck: () => Promise<void>, fault: Exclude<Fault, 'trainer'>) {
    const training = trainByWorkers(folder, this.#address, this.#server.url)
    const isOver = training.then(
      () => true,
      () => true,
    )
    if ((await Promise.race([struck(), isOver])) !== true) await this.#strike(fault)
    return { ...(await training), at: folder }
  }

  async #strike(fault: Exclude<Fault, 'trainer'>): Promise<void> {
    const pastLease = leaseSeconds * 1000 + 500
    switch (fault) {
      case 'kill':
        this.#workers[0]!.kill('SIGKILL')
        this.#start(0)
        return
      case 'stop':
        this.#workers[0]!.kill('SIGSTOP')
        await sleep(pastLease)
        this.#workers[0]!.kill('SIGCONT')
        return
      case 'cut':
        this.#proxy.silence()
        await sleep(pastLease)
        this.#proxy.mend()
        return
      case 'restart':
        return this.#postgres.restart()
      case 'crash':
        await this.#postgres.halt('immediate')
        return this.#postgres.restart()
      case 'duplicate':
        // Without their keys, so that nothing takes them for one.
        await this.#postgres.query(
          `INSERT INTO graphile_worker._private_jobs (task_id, payload, max_attempts)
           SELECT task_id, payload, max_attempts FROM graphile_worker._private_jobs`,
          this.#address,
        )
    }
  }

  /** The run goes on in another folder, as on another machine. */
  async #killTrainer(folder: string, struck: () => Promise<void>) {
    const words = [script('trainer-process.ts'), folder, this.#address, this.#server.url]
    const trainer = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'inherit'] })
    const ended = once(trainer, 'close')
    await Promise.race([struck(), ended])
    trainer.kill('SIGKILL')
    await ended
    const at = `${folder}-moved`
    // Killed early enough, it has not begun yet.
    if (existsSync(folder)) cpSync(folder, at, { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    return { ...(await trainByWorkers(at, this.#address, this.#server.url)), at }
  }

  /** The second one is behind the proxy. */
  #start(number: number): void {
    const address = number === 1 ? this.#proxy.through(this.#address) : this.#address
    const settings: WorkerSettings = { name: `worker-${number}`, calls, leaseSeconds }
    const words = [script('worker-process.ts'), address, this.#server.url, JSON.stringify(settings)]
    this.#workers[number] = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'inherit'] })
  }
}
