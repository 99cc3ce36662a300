import { z } from 'zod'

/** Caps on what a run may use; without a cap there is no limit. */
export const budgetSettings = z.strictObject({
  cost: z
    .number()
    .nonnegative()
    .optional()
    .describe("Stop when this much money is spent, in the currency of the model's price."),
  tokens: z.int().nonnegative().optional().describe('Stop when this many tokens are used, input and output.'),
  calls: z.int().nonnegative().optional().describe('Stop when this many model calls are made.'),
  minutes: z
    .number()
    .nonnegative()
    .optional()
    .describe('Stop after this many minutes of working time, including resumes.'),
})

export type BudgetSettings = z.output<typeof budgetSettings>
