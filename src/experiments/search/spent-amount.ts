import { moneyIn, type Price } from '../../models/prices.ts'
import { tokensIn } from '../../models/usage.ts'
import type { Spent } from '../../store/budget.ts'
import { readLines } from '../../store/durable-file.ts'
import type { RunFolder } from '../../store/run-folder.ts'

/** The unit of a budget: money if the model has a price, else tokens. */
export interface BudgetUnit {
  readonly name: string
  amount(spent: Pick<Spent, 'cost' | 'input' | 'output'>): number
}

export function budgetUnit(price: Price | undefined): BudgetUnit {
  if (price === undefined) return { name: 'tokens', amount: tokensIn }
  return { name: price.currency, amount: ({ cost }) => moneyIn(cost) }
}

/** The spending of a run's self-check, which belongs to no batch. */
export function selfCheckAmount({ callsFile }: RunFolder, unit: BudgetUnit): number {
  const lines = readLines(callsFile) as { readonly sum?: Spent; readonly of?: string }[]
  const check = lines.find(({ of }) => of === 'self-check')?.sum
  return check === undefined ? 0 : unit.amount(check)
}
