import { z } from 'zod'

/** What a run may use at most; without a cap there is no limit. */
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
    .describe('Stop after this much working time, resumes included.'),
})

export type BudgetSettings = z.output<typeof budgetSettings>
