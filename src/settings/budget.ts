import { z } from 'zod'

/** What a run may use at most; without a cap it may use all that it needs. */
export const budgetSettings = z.strictObject({
  cost: z.number().nonnegative().optional().describe("Money, in the currency of the model's price."),
  tokens: z.int().nonnegative().optional().describe('Input and output tokens together.'),
  calls: z.int().nonnegative().optional().describe('Model calls.'),
  minutes: z.number().nonnegative().optional().describe('Time at work, over all resumes.'),
})

export type BudgetSettings = z.output<typeof budgetSettings>
