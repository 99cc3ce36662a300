import { z } from 'zod'

// Parts shared by the output of several commands. Objects are loose, so fields may be added.

export const count = z.int().nonnegative()
export const object = z.looseObject
const unit = object({
  role: z.string(),
  realization: z.enum(['atomic', 'group']),
  predecessors: z.array(count),
})
export const graph = object({ units: z.array(unit) }).describe('Units in the order they were added.')
const interval = object({ mean: z.number(), low: z.number(), high: z.number() })
export const cost = z.json().describe('`unpriced`, or an amount with its currency.')
export const usage = object({ input: count, cachedInput: count, output: count, calls: count })
export const spent = object({ calls: count, input: count, output: count, cost, minutes: z.number() })
export const matched = z
  .array(
    object({
      organisation: z.string(),
      tokens: z.number(),
      within: object({ answers: count, tokens: z.number(), score: z.number() }).optional(),
      above: object({ answers: count, tokens: z.number(), score: z.number() }).optional(),
    }),
  )
  .describe('Self-consistency at the tokens per question of each organisation, if it was evaluated.')
export const evaluation = object({
  organisation: z.string(),
  description: z.string(),
  fidelity: z
    .string()
    .optional()
    .describe('For a system from the literature: paper, released code or adaptation.'),
  split: z.string(),
  n: count,
  complete: z.boolean(),
  score: interval.describe('Mean over all questions with its 95 % interval; failures count as zero.'),
  tokens: object({ input: z.number(), output: z.number(), total: z.number() }).describe('Per question.'),
  calls: z.number().describe('Per question.'),
  cost,
})
