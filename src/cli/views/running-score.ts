import type { QuestionRecord } from '../../evaluation/organisation-report.ts'
import { addCosts, type Cost } from '../../models/prices.ts'
import { percent, tokens } from '../display/numbers.ts'
import type { ProgressFields } from '../display/progress-state.ts'
import { costText } from './evaluation-table.ts'

/** Score, tokens and money of an evaluation so far, for its progress. */
export class RunningScore {
  readonly #isSimulated: boolean
  #count = 0
  #score = 0
  #tokens = 0
  #failed = 0
  #cost: Cost | undefined

  constructor(isSimulated: boolean) {
    this.#isSimulated = isSimulated
  }

  add({ score, usage, cost, status }: QuestionRecord): void {
    this.#count += 1
    this.#score += score
    this.#tokens += usage.input + usage.output
    this.#cost = this.#cost === undefined ? cost : addCosts(this.#cost, cost)
    if (status !== 'answered') this.#failed += 1
  }

  fields(): ProgressFields {
    const mean = this.#score / this.#count
    const cost = this.#cost ?? 'unpriced'
    return {
      score: { text: `score ${percent(mean)}`, value: mean },
      tokens: { text: `${tokens(this.#tokens)} tokens`, value: this.#tokens },
      cost: { text: costText(cost, this.#isSimulated), value: cost === 'unpriced' ? null : cost.amount },
      ...(this.#failed > 0 && { failed: { text: `${this.#failed} failed`, value: this.#failed } }),
    }
  }
}
