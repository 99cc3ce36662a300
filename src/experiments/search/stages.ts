/** A stage of the budget, as of the end of the batch that reached it. */
export interface ReachedStage {
  /** The nominal budget. */
  readonly stage: number
  readonly batches: number
  readonly spent: number
  /** Spending beyond it, since batches are never cut short. */
  readonly overshoot: number
}

const reachedWithin = 1e-9

/** The account of one route: its batches, and the stages of the budget they reached. */
export class StageAccount {
  readonly stages: readonly number[]
  /** Includes the start. */
  readonly reached: ReachedStage[] = [{ stage: 0, batches: 0, spent: 0, overshoot: 0 }]
  readonly #cycle: number
  #batches = 0
  #spent = 0
  #freeInARow = 0

  /** `cycle`: the route ends after this many free batches in a row. */
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

  /** Why the route has ended; undefined while it continues. */
  get end(): 'finished' | 'stalled' | undefined {
    if (this.notReached.length === 0) return 'finished'
    return this.#freeInARow >= this.#cycle ? 'stalled' : undefined
  }

  /** Books a batch and returns the stages it reached, in order. */
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

/** Executions and rows of the evaluation: the common start is executed once and shown for all routes. */
export function evaluationCounts(
  sizes: Readonly<Record<'datasets' | 'questions' | 'routes' | 'nonzeroStages', number>>,
) {
  const { datasets, questions, routes, nonzeroStages } = sizes
  return {
    executions: datasets * questions * (1 + routes * nonzeroStages),
    rows: datasets * questions * routes * (nonzeroStages + 1),
  }
}
