import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { Laboratory } from '../../src/experiments/laboratory.ts'
import { knownTasks } from '../../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../../src/simulator/model/simulator.ts'
import { writeWhole } from '../../src/store/durable-file.ts'
import { benchmarkTaskSet } from '../../src/tasks/studies/benchmark-task-set.ts'
import type { TaskSet } from '../../src/tasks/task-set.ts'
import { engine, type System, type TaskSetName } from './systems.ts'

/** The results of one system on one task set with one seed. */
export interface Cell {
  readonly tokens: number
  readonly calls: number
  /** One per question. */
  readonly scores: readonly number[]
}

interface StoreOptions {
  readonly folder: string
  readonly data: string
  readonly questions: number
}

/** The cells of a folder, each a file that is written atomically. */
export class CellStore {
  readonly #options: StoreOptions
  readonly #sets = new Map<TaskSetName, Promise<TaskSet>>()

  constructor(options: StoreOptions) {
    this.#options = options
  }

  /** The finished cells, by seed. */
  cellsOf(system: System, tasks: TaskSetName, seeds: readonly number[]): ReadonlyMap<number, Cell> {
    const cells = new Map<number, Cell>()
    for (const seed of seeds) {
      const file = this.#file(system.name, tasks, seed, 'json')
      if (existsSync(file)) cells.set(seed, JSON.parse(readFileSync(file, 'utf8')) as Cell)
    }
    return cells
  }

  /** Tokens spent on training, by seed; empty for systems that do not learn. */
  trainingTokensOf({ runs, trains }: System, tasks: TaskSetName, seeds: readonly number[]): number[] {
    return seeds.flatMap((seed) => {
      const events = join(this.#place(tasks, seed, fileName(runs)), 'runs', trains ?? '–', 'events.jsonl')
      if (!existsSync(events)) return []
      const { spent } = JSON.parse(readFileSync(events, 'utf8').trimEnd().split('\n').at(-1)!)
      return [spent.input + spent.output]
    })
  }

  async leftOut(system: System, tasks: TaskSetName): Promise<number | undefined> {
    return system.leftOut?.({ set: await this.#opened(tasks), source: {} })
  }

  /** Makes a cell, unless it exists or another process is working on it. */
  async make(system: System, tasks: TaskSetName, seed: number): Promise<void> {
    const file = this.#file(system.name, tasks, seed, 'json')
    if (existsSync(file)) return
    using claim = claimed(this.#file(system.runs, tasks, seed, 'claim'))
    if (claim === undefined || existsSync(file)) return
    const start = performance.now()
    const set = await this.#opened(tasks)
    const model = new SimulatedModel({ tasks: knownTasks(set), seed })
    const lab = new Laboratory({
      ...{ folder: this.#place(tasks, seed, fileName(system.runs)), encoder: lexicalEncoder, engine },
      open: async () => ({ set, source: {} }),
      model: async () => model,
      ...{ transportFailures: 'stop', budget: {} },
    })
    const report = await system.evaluate(lab, { set, source: {} }, seed)
    if (!report.complete) throw new Error(`${system.name} was not completed.`)
    const { tokens, calls, records } = report
    const cell: Cell = { tokens: tokens.total, calls, scores: records.map(({ score }) => score) }
    writeWhole(file, JSON.stringify(cell))
    const took = ((performance.now() - start) / 1000).toFixed(1)
    const score = (100 * report.score.mean).toFixed(1)
    process.stderr.write(`${tasks} ${seed} ${system.name}: ${score} %, ${took} s\n`)
  }

  #opened(tasks: TaskSetName): Promise<TaskSet> {
    const { data, questions: test } = this.#options
    const known = this.#sets.get(tasks) ?? benchmarkTaskSet(tasks, { data, train: 100, test })
    this.#sets.set(tasks, known)
    return known
  }

  #place(tasks: TaskSetName, seed: number, name: string): string {
    return join(this.#options.folder, `${tasks}-${seed}`, name)
  }

  #file(name: string, tasks: TaskSetName, seed: number, kind: 'json' | 'claim'): string {
    const folder = this.#place(tasks, seed, 'cells')
    mkdirSync(folder, { recursive: true })
    return join(folder, `${fileName(name)}.${kind}`)
  }
}

function fileName(name: string): string {
  return name.replace(/\W+/g, '-')
}

/** Claims a cell with a file that contains this process's id; undefined if a running process has claimed it. */
function claimed(file: string): Disposable | undefined {
  const take = () => writeFileSync(file, String(process.pid), { flag: 'wx' })
  try {
    take()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (isAlive(Number(readFileSync(file, 'utf8')))) return undefined
    rmSync(file, { force: true })
    return claimed(file)
  }
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) }
}

/** Zero means that the claim is just being written. */
function isAlive(pid: number): boolean {
  if (pid === 0) return true
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
