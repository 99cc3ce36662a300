import { z } from 'zod'

const text = z.string()

export const graphFileSchema = z.object({
  units: z.array(
    z.strictObject({
      role: text.min(1),
      realization: z.enum(['atomic', 'group']),
      predecessors: z.array(z.int().nonnegative()).default([]),
    }),
  ),
})

const program = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('stdin'), starterCode: text.default('') }),
  z.strictObject({ mode: z.literal('function'), starterCode: text.default(''), entryPoint: text.min(1) }),
])

/** Strict: a field such as `answer` or `reference` is refused, so that no gold answer slips into a prompt. */
export const taskFileSchema = z.strictObject({
  id: text.min(1).exactOptional(),
  question: text.min(1),
  options: z.array(z.strictObject({ label: text.min(1), text })).exactOptional(),
  context: z.array(text).exactOptional(),
  tables: z
    .array(
      z.strictObject({
        name: text,
        caption: text.exactOptional(),
        header: z.array(text).exactOptional(),
        rows: z.array(z.array(text)),
      }),
    )
    .exactOptional(),
  program: program.exactOptional(),
  publicTests: z
    .array(z.strictObject({ testtype: z.enum(['stdin', 'functional']), input: text, output: text }))
    .exactOptional(),
  metadata: z.record(text, text).exactOptional(),
})
