import { z } from 'zod'
import type { ProgramInterface, ProgramTest, Table } from '../../library/task.ts'
import { BrokenTask } from '../../sandbox/program/program-message.ts'
import type { ProgramSandbox } from '../../sandbox/program-sandbox.ts'
import { SandboxFailure } from '../../sandbox/unavailable.ts'

/** All that a tool may see of a task: its public part. */
export interface ToolContext {
  readonly tables?: readonly Table[]
  readonly program?: ProgramInterface
  readonly publicTests?: readonly ProgramTest[]
  /** Undefined where there is no sandbox: tools that run programs then say so. */
  readonly sandbox?: ProgramSandbox
  // Every reference has a `kind`, so none can pass for a context, whatever else it has in common with one.
  readonly kind?: never
}

/** What the runtime tells a model about its request. An error is data for the model, not an exception. */
export type ToolObservation =
  | { readonly status: 'ok'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly status: 'error'; readonly reason: ToolErrorReason; readonly message: string }

/** `bad_payload`: the model can do better; `failed`: the request made no sense here; `unavailable`: not its fault. */
export type ToolErrorReason = 'bad_payload' | 'failed' | 'unavailable'

export interface Tool<Payload = unknown> {
  readonly name: string
  /** What it does and what its payload looks like, for a model to read. */
  readonly description: string
  readonly payload: z.ZodType<Payload>
  /** Gets a payload that fits. Throws only for the signal, and for what `useTool` turns into an observation. */
  run(payload: Payload, context: ToolContext, signal?: AbortSignal): Promise<ToolObservation>
}

export function toolError(reason: ToolErrorReason, message: string): ToolObservation {
  return { status: 'error', reason, message }
}

/** Runs a tool on whatever payload a model sent. */
export async function useTool<Payload>(
  tool: Tool<Payload>,
  payload: unknown,
  context: ToolContext,
  signal?: AbortSignal,
): Promise<ToolObservation> {
  const checked = tool.payload.safeParse(payload)
  if (!checked.success) {
    return toolError('bad_payload', `${z.prettifyError(checked.error)}\n${tool.description}`)
  }
  try {
    return await tool.run(checked.data, context, signal)
  } catch (problem) {
    if (problem instanceof BrokenTask) return toolError('failed', problem.message)
    if (problem instanceof SandboxFailure) return toolError('unavailable', problem.reason)
    throw problem
  }
}
