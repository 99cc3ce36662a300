/** A part of the budget that was spent, as it was when the batch that reached it had ended. */
export interface ReachedStage {
  /** The nominal budget. */
  readonly stage: number
  readonly batches: number
  readonly spent: number
  /** What was spent beyond it: no batch is cut short. */
  readonly overshoot: number
}

const reachedWithin = 1e-9

/** The account of one route: whole batches, and which stages of the budget they have reached. */
export class StageAccount {
  readonly stages: readonly number[]
  /** The start included. */
  readonly reached: ReachedStage[] = [{ stage: 0, batches: 0, spent: 0, overshoot: 0 }]
  readonly #cycle: number
  #batches = 0
  #spent = 0
  #freeInARow = 0

  /** `cycle`: as many batches in a row that cost nothing end the route. */
  constructor(stages: readonly number[], cycle: number) {
    this.stages = stages
    this.#cycle = cycle
  }

  get batches(): number {
    return this.#batches
  }

  get spent(): number {
    return this.#spent
  }

  get notReached(): readonly number[] {
    return this.stages.slice(this.reached.length - 1)
  }

  /** Why the route has ended; undefined while it goes on. */
  get end(): 'finished' | 'stalled' | undefined {
    if (this.notReached.length === 0) return 'finished'
    return this.#freeInARow >= this.#cycle ? 'stalled' : undefined
  }

  /** Books a batch and gives the stages that it reached, in order. */
  book(cost: number): ReachedStage[] {
    this.#batches += 1
    this.#spent += cost
    this.#freeInARow = cost > 0 ? 0 : this.#freeInARow + 1
    const now = this.notReached
      .filter((stage) => this.#spent >= stage - reachedWithin)
      .map((stage) => ({
        stage,
        batches: this.#batches,
        spent: this.#spent,
        overshoot: this.#spent - stage,
      }))
    this.reached.push(...now)
    return now
  }
}

/** How many executions the evaluation takes, and how many rows it shows: the common start counts once, and is shown for all. */
export function evaluationCounts(
  sizes: Readonly<Record<'datasets' | 'questions' | 'routes' | 'nonzeroStages', number>>,
) {
  const { datasets, questions, routes, nonzeroStages } = sizes
  return {
    executions: datasets * questions * (1 + routes * nonzeroStages),
    rows: datasets * questions * routes * (nonzeroStages + 1),
  }
}
