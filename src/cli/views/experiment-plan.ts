import type { PlannedStep } from '../../experiments/plan.ts'
import { addCosts, type Cost } from '../../models/prices.ts'
import { tokens } from '../display/numbers.ts'
import type { Lines, Screen } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { costText } from './evaluation-table.ts'

export type PricedStep = PlannedStep & { readonly cost: Cost }

export interface PricedPlan {
  readonly steps: readonly PricedStep[]
  /** Absent if no model is called. */
  readonly total?: PricedStep
}

export function totalOf(steps: readonly PricedStep[]): PricedStep | undefined {
  if (steps.length === 0) return undefined
  return steps.reduce((sum, step) => ({
    label: 'all',
    updates: sum.updates + step.updates,
    executions: sum.executions + step.executions,
    calls: sum.calls + step.calls,
    input: sum.input + step.input,
    cachedInput: sum.cachedInput + step.cachedInput,
    output: sum.output + step.output,
    hours: sum.hours + step.hours,
    cost: addCosts(sum.cost, step.cost),
  }))
}

export function planLines({ steps, total }: PricedPlan, isSimulated: boolean, screen: Screen): Lines {
  if (total === undefined) return ['Calls no model: computed at once, and free.']
  return [
    tableLines(
      {
        columns: ['step', 'updates', 'executions', 'calls', 'tokens', 'cost', 'hours (3 s per call)'],
        rows: [...steps, { ...total, label: 'total' }].map((step) => [
          ...[step.label, String(step.updates), String(step.executions), tokens(step.calls)],
          ...[tokens(step.input + step.output), costText(step.cost, isSimulated), step.hours.toFixed(2)],
        ]),
      },
      screen,
    ),
    'Based on the simulated model. A model that writes longer replies costs more.',
  ]
}
