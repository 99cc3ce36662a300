import { z } from 'zod'
import type { CodeStatus } from './code-status.ts'

// What a program's process reports about itself. The program can forge all of it, so it may only testify against
// itself: no message means `passed`, and none blames the task.
const messageSchema = z.union([
  z.object({ loaded: z.literal(true) }),
  z.object({ compiled: z.literal(true) }),
  z.object({ value: z.unknown() }),
  z.object({
    failed: z.enum(['syntax', 'exception', 'exit']),
    types: z.array(z.string()),
    name: z.string(),
    text: z.string(),
  }),
])

export type ProgramMessage = z.infer<typeof messageSchema>
export type ProgramFailure = Extract<ProgramMessage, { failed: string }>

export function readMessage(message: unknown): ProgramMessage | undefined {
  return messageSchema.safeParse(message).data
}

export function statusOfFailure(failure: ProgramFailure): CodeStatus {
  if (failure.failed === 'syntax') return 'syntax_error'
  return failure.types.includes('MemoryError') ? 'memory_limit' : 'runtime_error'
}

/** The task's own code does not run, so no program is to blame. */
export class BrokenTask extends Error {
  override readonly name = 'BrokenTask'
}
