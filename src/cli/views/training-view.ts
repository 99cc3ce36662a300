import { existsSync } from 'node:fs'
import { meanOf } from '../../evaluation/statistics.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { Spent } from '../../store/budget.ts'
import { readLines } from '../../store/durable-file.ts'
import { RunFolder } from '../../store/run-folder.ts'
import type { TrainingEvent } from '../../training/train-options.ts'
import type { UpdateRecord } from '../../training/update-record.ts'
import { money, tokens } from '../display/numbers.ts'
import type { Progress, ProgressFields } from '../display/progress.ts'

/** Single updates jump between right and wrong: scores are means of this many. */
export const scoreWindow = 20

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

  get firstScore() {
    return meanScore(this.scores.slice(0, scoreWindow))
  }

  get lastScore() {
    return meanScore(this.scores.slice(-scoreWindow))
  }
}

/** With the number of updates that it is the mean of. */
function meanScore(scores: readonly number[]): { readonly mean: number; readonly n: number } | undefined {
  return scores.length === 0 ? undefined : { mean: meanOf(scores), n: scores.length }
}

interface ShownTraining {
  readonly progress: Progress
  readonly isSimulated: boolean
  readonly caps: BudgetSettings
  /** The run's folder. */
  readonly folder: string
}

/** Shows a training: the checks before it, then a bar with score, tokens and money. */
export class TrainingView {
  readonly #shown: ShownTraining
  #done = 0
  tally = new TrainingTally()
  /** Whether the run's folder exists by now. */
  hasStarted = false

  constructor(shown: ShownTraining) {
    this.#shown = shown
  }

  readonly listen = (event: TrainingEvent): void => {
    if (event.type === 'note') this.note(event.text)
    else if (event.type === 'check') {
      const mark = event.isLacking === true ? '!' : '✓'
      this.note(`${mark} ${event.name.padEnd('sandbox'.length)}  ${event.detail}`)
    } else if (event.type === 'start') this.#start(event)
    else {
      if (event.type === 'working') this.tally.spent = event.spent
      else {
        this.tally.add(event)
        this.#done = event.update + 1
      }
      this.#shown.progress.update({ done: this.#done, fields: this.#fields() })
    }
  }

  note(text: string): void {
    this.#shown.progress.note(text)
  }

  end(): void {
    this.#shown.progress.end()
  }

  #start({ done, record: { updates }, inFlight }: Extract<TrainingEvent, { type: 'start' }>): void {
    const { progress, isSimulated, folder } = this.#shown
    this.hasStarted = true
    this.tally = TrainingTally.of(folder)
    this.#done = done
    if (done > 0) this.note(`Resuming after ${done} of ${updates} updates.`)
    progress.start(updates, isSimulated ? 'training (simulated)' : 'training', done)
    if (inFlight > 0)
      this.note(
        `Calls in flight when the run last ended: ${inFlight}. Those whose answers are still needed are made again.`,
      )
  }

  #fields(): ProgressFields {
    const { caps, isSimulated } = this.#shown
    const { lastScore, reusedTokens, spent } = this.tally
    if (spent === undefined) return {}
    const { cost, calls, minutes } = spent
    const used = spent.input + spent.output
    const field = (text: string, value: number | null) => ({ text, value })
    const minutesText = (amount: number) => amount.toFixed(1)
    return {
      ...(lastScore && {
        score: field(`score ${lastScore.mean.toFixed(3)} (mean of ${lastScore.n})`, lastScore.mean),
      }),
      // The label says already that it is simulated.
      money: field(
        isSimulated ? 'free' : moneyText(spent, caps, false),
        cost === 'unpriced' ? null : cost.amount,
      ),
      tokens: field(`${amountOf(used, caps.tokens, tokens)} tokens`, used),
      reusedTokens: field(`${tokens(reusedTokens)} reused`, reusedTokens),
      calls: field(`${amountOf(calls, caps.calls, tokens)} calls`, calls),
      ...(caps.minutes && { minutes: field(`${amountOf(minutes, caps.minutes, minutesText)} min`, minutes) }),
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
