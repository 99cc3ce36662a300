import { existsSync } from 'node:fs'
import type { Spent } from '../runs/budget.ts'
import type { BudgetSettings } from '../runs/budget-settings.ts'
import { readLines } from '../runs/durable-file.ts'
import { RunFolder } from '../runs/run-folder.ts'
import type { TrainingEvent } from '../runs/train.ts'
import type { UpdateRecord } from '../runs/update-record.ts'
import { money, tokens } from './display/numbers.ts'
import type { Progress } from './display/progress.ts'
import type { ProgressFields } from './display/progress-state.ts'
import { type Screen, shownText } from './display/screen.ts'

/** Single updates jump between right and wrong: scores are told as the mean of so many. */
const window = 20

/** What a run has done so far, over all its resumes. */
export class TrainingTally {
  readonly scores: number[] = []
  reusedTokens = 0
  reusedCalls = 0
  spent: Spent | undefined

  /** From the run's own record of its updates. */
  static of(path: string): TrainingTally {
    const tally = new TrainingTally()
    const { eventsFile } = new RunFolder(path)
    for (const event of existsSync(eventsFile) ? readLines(eventsFile) : []) tally.add(event as UpdateRecord)
    return tally
  }

  add({ score, reused, spent }: UpdateRecord): void {
    this.scores.push(score)
    this.reusedTokens += reused.input + reused.output
    this.reusedCalls += reused.calls
    this.spent = spent
  }

  get firstScore(): MeanScore | undefined {
    return meanScore(this.scores.slice(0, window))
  }

  get lastScore(): MeanScore | undefined {
    return meanScore(this.scores.slice(-window))
  }
}

export interface MeanScore {
  readonly mean: number
  /** Updates that it is the mean of. */
  readonly n: number
}

function meanScore(scores: readonly number[]): MeanScore | undefined {
  const n = scores.length
  return n === 0 ? undefined : { mean: scores.reduce((sum, score) => sum + score, 0) / n, n }
}

/** A training as it goes on: what is checked first, then a bar with score, use and money. */
export class TrainingView {
  readonly #progress: Progress
  readonly #screen: Screen
  readonly #isSimulated: boolean
  readonly #caps: BudgetSettings
  readonly #folder: string
  #tally = new TrainingTally()
  #hasStarted = false
  #done = 0

  constructor(options: {
    readonly progress: Progress
    readonly screen: Screen
    readonly isSimulated: boolean
    readonly caps: BudgetSettings
    /** The run's folder. */
    readonly folder: string
  }) {
    this.#progress = options.progress
    this.#screen = options.screen
    this.#isSimulated = options.isSimulated
    this.#caps = options.caps
    this.#folder = options.folder
  }

  /** Whether the run's folder is there by now. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  get tally(): TrainingTally {
    return this.#tally
  }

  readonly listen = (event: TrainingEvent): void => {
    if (event.type === 'note') this.note(event.text)
    else if (event.type === 'check') {
      const mark = event.isLacking === true ? '!' : '✓'
      this.note(`${mark} ${event.name.padEnd('sandbox'.length)}  ${event.detail}`)
    } else if (event.type === 'start') {
      this.#hasStarted = true
      this.#tally = TrainingTally.of(this.#folder)
      const label = this.#isSimulated ? 'training (simulated)' : 'training'
      const { updates } = event.record
      if (event.done > 0) this.note(`Going on after ${event.done} of ${updates} updates.`)
      if (event.inFlight > 0)
        this.note(
          `Calls in flight when the run last ended: ${event.inFlight}. Those whose answers are still needed are made again.`,
        )
      this.#done = event.done
      this.#progress.start(updates, label, event.done)
    } else if (event.type === 'working') {
      this.#tally.spent = event.spent
      this.#progress.update({ done: this.#done, fields: this.#fields() })
    } else {
      this.#tally.add(event)
      this.#done = event.update + 1
      this.#progress.update({ done: this.#done, fields: this.#fields() })
    }
  }

  note(text: string): void {
    // Lines stay lines.
    const lines = text.split('\n').map((line) => shownText(line, this.#screen))
    this.#progress.note(lines.join('\n'))
  }

  end(): void {
    this.#progress.end()
  }

  #fields(): ProgressFields {
    const { lastScore, reusedTokens, spent } = this.#tally
    if (spent === undefined) return {}
    const used = spent.input + spent.output
    const { minutes } = this.#caps
    return {
      ...(lastScore === undefined
        ? {}
        : {
            score: {
              text: `score ${lastScore.mean.toFixed(3)} (mean of ${lastScore.n})`,
              value: lastScore.mean,
            },
          }),
      // The label says already that it is simulated.
      money: {
        text: this.#isSimulated ? 'free' : moneyText(spent, this.#caps, false),
        value: spent.cost === 'unpriced' ? null : spent.cost.amount,
      },
      tokens: { text: `${amountOf(used, this.#caps.tokens, tokens)} tokens`, value: used },
      reusedTokens: { text: `${tokens(reusedTokens)} reused`, value: reusedTokens },
      calls: { text: `${amountOf(spent.calls, this.#caps.calls, tokens)} calls`, value: spent.calls },
      ...(minutes === undefined
        ? {}
        : {
            minutes: {
              text: `${amountOf(spent.minutes, minutes, (amount) => amount.toFixed(1))} min`,
              value: spent.minutes,
            },
          }),
    }
  }
}

function amountOf(amount: number, cap: number | undefined, shown: (amount: number) => string): string {
  return cap === undefined ? shown(amount) : `${shown(amount)} of ${shown(cap)}`
}

/** What was spent, and of how much. */
export function moneyText(
  { cost }: Pick<Spent, 'cost'>,
  { cost: cap }: BudgetSettings,
  isSimulated: boolean,
): string {
  if (cost === 'unpriced') return isSimulated ? 'free (simulated)' : 'unpriced'
  return amountOf(cost.amount, cap, (amount) => money({ amount, currency: cost.currency }))
}
