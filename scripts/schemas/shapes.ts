import { z } from 'zod'

// Parts that the outputs of several commands share. Objects are loose: fields may be added to them.

export const count = z.int().nonnegative()
export const object = z.looseObject
const unit = object({
  role: z.string(),
  realization: z.enum(['atomic', 'group']),
  predecessors: z.array(count),
})
export const graph = object({ units: z.array(unit) }).describe('Units in the order of their placement.')
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
  .describe('Self-consistency at the tokens per question of each organisation, where it was evaluated.')
export const evaluation = object({
  organisation: z.string(),
  description: z.string(),
  fidelity: z
    .string()
    .optional()
    .describe('Of a system of the literature: paper, released code or adaptation.'),
  split: z.string(),
  n: count,
  complete: z.boolean(),
  score: interval.describe('Mean over all questions, failures as zero, with its 95 % interval.'),
  tokens: object({ input: z.number(), output: z.number(), total: z.number() }).describe('Per question.'),
  calls: z.number().describe('Per question.'),
  cost,
})
