import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PostgresAddress } from '../../src/store/postgres/address.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { migrateWork } from '../../src/workers/tables.ts'
import { LoggedServer } from '../crash/processes.ts'
import { outcome } from '../crash/small-training.ts'
import { SilentProxy } from '../postgres/proxy.ts'
import { Postgres } from '../postgres/server.ts'
import { needlessRepeats, repeatsOf, type Strike } from './repeated-calls.ts'
import { trainByWorkers } from './small-training.ts'
import type { WorkerSettings } from './worker-process.ts'

/** `away`: PostgreSQL is down longer than a lease. */
export const faults = ['kill', 'stop', 'cut', 'restart', 'crash', 'away', 'duplicate', 'trainer'] as const
export type Fault = (typeof faults)[number]

const calls = 4
const leaseSeconds = 3
const script = (name: string) => new URL(name, import.meta.url).pathname

export interface PointReport {
  readonly repeated: number
  readonly asked: number
}

interface StartedWorker {
  /** Unique across all starts. The model's server identifies it by this key. */
  readonly key: string
  readonly process: ChildProcess
}

/**
 * A PostgreSQL, a model that logs its requests, and two workers, the second behind a network that can go
 * silent. Trainings run on it while something goes wrong.
 */
export class Stage {
  readonly #work = mkdtempSync(join(tmpdir(), 'magic-workers-'))
  readonly #postgres: Postgres
  readonly #proxy: SilentProxy
  readonly #server: LoggedServer
  readonly #address: string
  readonly #workers: StartedWorker[] = []
  /** Every worker ever started, by process id. */
  readonly #keys = new Map<number, string>()
  #expected: ReadonlyMap<string, string> = new Map()
  #points = 0
  #starts = 0

  private constructor(postgres: Postgres, proxy: SilentProxy, server: LoggedServer, address: string) {
    this.#postgres = postgres
    this.#proxy = proxy
    this.#server = server
    this.#address = address
  }

  static async open(): Promise<Stage> {
    // Commit times show when an answer was kept.
    const postgres = await Postgres.start({ durable: true, settings: ['track_commit_timestamp = on'] })
    const proxy = await SilentProxy.start(postgres.port)
    const log = join(mkdtempSync(join(tmpdir(), 'magic-log-')), 'server.log')
    const server = await LoggedServer.start(log, { latencyMs: 20, marksAnswers: true })
    const stage = new Stage(postgres, proxy, server, await postgres.database())
    const alone = join(stage.#work, 'alone')
    await trainByWorkers(alone, undefined, server.url)
    stage.#expected = outcome(alone)
    await stage.#recordLostLeases()
    stage.#start(0)
    stage.#start(1)
    return stage
  }

  async close(): Promise<void> {
    for (const { process } of this.#workers) process.kill('SIGKILL')
    await this.#server.close()
    await this.#proxy.stop()
    await this.#postgres.stop()
    rmSync(this.#work, { recursive: true, force: true })
  }

  /**
   * A training that is hit by a fault after this many calls. Throws unless it ends with exactly the weights
   * of an undisturbed one, every request is counted, and only calls in flight at the affected worker are
   * repeated.
   */
  async point(fault: Fault, after: number): Promise<PointReport> {
    this.#points += 1
    const before = this.#server.asks().length
    const folder = join(this.#work, `run-${this.#points}`)
    const isTime = async () => {
      while (this.#server.asks().length - before < after) await sleep(5)
    }
    const { spent, at, strike } =
      fault === 'trainer'
        ? await this.#killTrainer(folder, isTime)
        : await this.#disturbed(folder, isTime, fault)
    for (const [file, content] of outcome(at))
      if (content !== this.#expected.get(file)) throw new Error(`${file} differs from that without the fault`)
    const asks = this.#server.asks().slice(before)
    const lostAt = await this.#lostAt(strike)
    const needless = needlessRepeats(asks, lostAt, await this.#keptAt(), calls)
    if (needless.length > 0) throw new Error(needless.join('; '))
    // A call whose caller is gone counts only once it can no longer be answered.
    const mayBeOpen = calls * lostAt.size
    const counted = spent.calls + spent.unknown
    if (counted + mayBeOpen < asks.length)
      throw new Error(
        `${asks.length} calls were asked, and ${counted} are counted (${spent.unknown} unknown)`,
      )
    return { repeated: repeatsOf(asks).length, asked: asks.length }
  }

  async #disturbed(folder: string, isTime: () => Promise<void>, fault: Exclude<Fault, 'trainer'>) {
    const training = trainByWorkers(folder, this.#address, this.#server.url)
    const isOver = training.then(
      () => true,
      () => true,
    )
    const strike = (await Promise.race([isTime(), isOver])) === true ? undefined : await this.#strike(fault)
    return { ...(await training), at: folder, strike }
  }

  async #strike(fault: Exclude<Fault, 'trainer'>): Promise<Strike> {
    const at = Date.now()
    const [first, second] = this.#workers as [StartedWorker, StartedWorker]
    switch (fault) {
      case 'kill':
        first.process.kill('SIGKILL')
        this.#start(0)
        return { at, worker: first.key }
      case 'stop':
        first.process.kill('SIGSTOP')
        await this.#leaseGone(first)
        first.process.kill('SIGCONT')
        return { at, worker: first.key }
      case 'cut':
        this.#proxy.silence()
        await this.#leaseGone(second)
        this.#proxy.mend()
        return { at, worker: second.key }
      case 'restart':
        await this.#postgres.restart()
        return { at }
      case 'crash':
        await this.#postgres.halt('immediate')
        await this.#postgres.restart()
        return { at }
      case 'away':
        await this.#postgres.halt('immediate')
        await sleep(leaseSeconds * 1000 + 500)
        await this.#postgres.restart()
        return { at }
      case 'duplicate':
        // Without their keys: PostgreSQL must not recognise them as the same jobs.
        await this.#postgres.query(
          `INSERT INTO graphile_worker._private_jobs (task_id, payload, max_attempts)
           SELECT task_id, payload, max_attempts FROM graphile_worker._private_jobs`,
          this.#address,
        )
        return { at }
    }
  }

  async #leaseGone(worker: StartedWorker): Promise<void> {
    const lease = `SELECT FROM magic_work.workers WHERE process = ${worker.process.pid}`
    while ((await this.#postgres.query(lease, this.#address)).rowCount! > 0) await sleep(50)
  }

  async #recordLostLeases(): Promise<void> {
    const database = await Database.open(new PostgresAddress(this.#address))
    await migrateWork(database)
    await database.close()
    await this.#postgres.query(
      `CREATE TABLE public.lost_leases (process integer, at timestamptz);
       CREATE FUNCTION public.record_lost_lease() RETURNS trigger LANGUAGE plpgsql AS $function$
       BEGIN
         INSERT INTO public.lost_leases VALUES (OLD.process, clock_timestamp());
         RETURN OLD;
       END $function$;
       CREATE TRIGGER record_lost_lease AFTER DELETE ON magic_work.workers
         FOR EACH ROW EXECUTE FUNCTION public.record_lost_lease()`,
      this.#address,
    )
  }

  /**
   * When each worker was hit or lost its lease since the last call, by key. On a busy machine one may get no
   * core for longer than its lease: then it is lost as if it had been stopped.
   */
  async #lostAt(strike: Strike | undefined): Promise<Map<string, number>> {
    const { rows } = await this.#postgres.query(
      `WITH taken AS (DELETE FROM public.lost_leases RETURNING process, at)
       SELECT process, extract(epoch FROM min(at)) * 1000 AS at FROM taken GROUP BY process`,
      this.#address,
    )
    const lost = new Map<string, number>(
      rows.map(({ process, at }) => [this.#keys.get(process)!, Number(at)]),
    )
    return strike?.worker === undefined ? lost : lost.set(strike.worker, strike.at)
  }

  /** When each answer was kept, by the digest of its request. */
  async #keptAt(): Promise<Map<string, number>> {
    const { rows } = await this.#postgres.query(
      `SELECT reply::json->>'servedModel' AS digest, extract(epoch FROM min(pg_xact_commit_timestamp(xmin))) * 1000 AS at
       FROM magic.replies WHERE ledger = (SELECT max(id) FROM magic.ledgers) GROUP BY 1`,
      this.#address,
    )
    return new Map(rows.map(({ digest, at }) => [digest, Number(at)]))
  }

  /** The run continues in another folder, as if on another machine. */
  async #killTrainer(folder: string, isTime: () => Promise<void>) {
    const words = [script('trainer-process.ts'), folder, this.#address, this.#server.url]
    const trainer = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'inherit'] })
    const ended = once(trainer, 'close')
    await Promise.race([isTime(), ended])
    const strike: Strike = { at: Date.now() }
    trainer.kill('SIGKILL')
    await ended
    const at = `${folder}-moved`
    // If killed early enough, it has not begun yet.
    if (existsSync(folder)) cpSync(folder, at, { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    return { ...(await trainByWorkers(at, this.#address, this.#server.url)), at, strike }
  }

  /** The second one is behind the proxy. */
  #start(number: number): void {
    const address = number === 1 ? this.#proxy.through(this.#address) : this.#address
    this.#starts += 1
    const key = `worker-${number}-start-${this.#starts}`
    const settings: WorkerSettings = { name: `worker-${number}`, calls, leaseSeconds, key }
    const words = [script('worker-process.ts'), address, this.#server.url, JSON.stringify(settings)]
    const started = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'inherit'] })
    this.#workers[number] = { key, process: started }
    this.#keys.set(started.pid!, key)
  }
}
