import { ranGraphs, sumTokens } from '../../evaluation/run-overview.ts'
import { meanOf } from '../../evaluation/statistics.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { Spent } from '../../store/budget.ts'
import { readLines } from '../../store/durable-file.ts'
import { RunFolder } from '../../store/run-folder.ts'
import type { TrainingEvent } from '../../training/train-options.ts'
import type { UpdateRecord } from '../../training/update-record.ts'
import { money, tokens } from '../display/numbers.ts'
import type { Progress, ProgressFields } from '../display/progress.ts'
import { counted } from '../display/terminal-text.ts'

/** Scores are means over this many updates, because single updates jump between right and wrong. */
const scoreWindow = 20

/** Mean score of the last updates that ran graphs, and their number. */
export function meanScore(updates: readonly UpdateRecord[]): { mean: number; n: number } | undefined {
  const scores = updates.filter(ranGraphs).map(({ score }) => score)
  const last = scores.slice(-scoreWindow)
  return last.length === 0 ? undefined : { mean: meanOf(last), n: last.length }
}

interface ShownTraining {
  readonly progress: Progress
  readonly isSimulated: boolean
  readonly caps: BudgetSettings
  readonly folder: string
}

/** Shows a training: the checks first, then a bar with score, tokens and cost. */
export class TrainingView {
  readonly #shown: ShownTraining
  #done = 0
  #spent: Spent | undefined
  /** Of the whole run, before and after resumes. */
  updates: UpdateRecord[] = []
  /** Whether the run folder exists. */
  hasStarted = false

  constructor(shown: ShownTraining) {
    this.#shown = shown
  }

  readonly listen = (event: TrainingEvent): void => {
    if (event.type === 'note') this.note(event.text)
    else if (event.type === 'check') {
      const name = `${event.isLacking === true ? '!' : '✓'} ${event.name.padEnd('sandbox'.length)}  `
      this.#shown.progress.note(`${name}${event.detail}`, ' '.repeat(name.length))
    } else if (event.type === 'start') this.#start(event)
    else {
      this.#spent = event.spent
      if (event.type === 'update') {
        this.updates.push(event)
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
    this.updates = readLines(new RunFolder(folder).eventsFile) as UpdateRecord[]
    this.#spent = this.updates.at(-1)?.spent
    this.#done = done
    if (done > 0) this.note(`Resuming after ${done} of ${updates} updates.`)
    progress.start(updates, isSimulated ? 'training (simulated)' : 'training', done)
    if (inFlight > 0)
      this.note(
        `${counted(inFlight, 'call was', 'calls were')} in flight when the run last stopped. Those still needed are made again.`,
      )
  }

  #fields(): ProgressFields {
    const { caps, isSimulated } = this.#shown
    const spent = this.#spent
    if (spent === undefined) return {}
    const lastScore = meanScore(this.updates)
    const reused = sumTokens(this.updates.map((update) => update.reused))
    const reusedTokens = reused.input + reused.output
    const { cost, calls, minutes } = spent
    const used = spent.input + spent.output
    const field = (text: string, value: number | null) => ({ text, value })
    const minutesText = (amount: number) => amount.toFixed(1)
    return {
      ...(lastScore && {
        score: field(`score ${lastScore.mean.toFixed(3)} (mean of ${lastScore.n})`, lastScore.mean),
      }),
      // The label already says that it is simulated.
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

/** The money spent, and its cap. */
export function moneyText(
  { cost }: Pick<Spent, 'cost'>,
  { cost: cap }: BudgetSettings,
  isSimulated: boolean,
): string {
  if (cost === 'unpriced') return isSimulated ? 'free (simulated)' : 'unpriced'
  return amountOf(cost.amount, cap, (amount) => money({ amount, currency: cost.currency }))
}
