// What the policy's golden files have in common, converted to our types.
import { z } from 'zod'
import type { Action } from '../../src/graph/legality.ts'

export const numbers = z.array(z.number())
export const count = z.int().min(0)
const realization = z.enum(['atomic', 'group'])
/** Golden files name a role by its index; its id is that index as text. */
const role = z.int().transform(String)

export const goldenUnits = z.array(z.object({ role, realization, predecessors: numbers }))

export const goldenAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stop') }),
  z.object({ type: z.literal('add'), role, realization, predecessors: numbers }),
]) satisfies z.ZodType<Action>

export const goldenRestriction = z.enum(['mixed', 'all-atomic', 'all-group'])

/** One string of zeros and ones per unit, or null in evaluation mode. */
export const goldenDropout = z
  .array(
    z
      .string()
      .regex(/^[01]*$/)
      .transform((keep) => Uint8Array.from(keep, Number)),
  )
  .nullable()
