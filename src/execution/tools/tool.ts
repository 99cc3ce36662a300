import { inspect } from 'node:util'
import { z } from 'zod'
import type { ProgramInterface, ProgramTest, Table } from '../../library/task.ts'
import { Problem } from '../../problem.ts'
import { BrokenTask } from '../../sandbox/program/program-message.ts'
import type { ProgramSandbox } from '../../sandbox/program-sandbox.ts'
import { SandboxFailure } from '../../sandbox/unavailable.ts'

/** All a tool may see of a task: its public part. */
export interface ToolContext {
  readonly tables?: readonly Table[]
  readonly program?: ProgramInterface
  readonly publicTests?: readonly ProgramTest[]
  /** Undefined if there is none; tools that run programs then report it. */
  readonly sandbox?: ProgramSandbox
  // Every reference has a `kind`, so this keeps the compiler from accepting one as a context.
  readonly kind?: never
}

/** What a model is told about its request. An error is data for the model, not an exception. */
export type ToolObservation =
  | { readonly status: 'ok'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly status: 'error'; readonly reason: ToolErrorReason; readonly message: string }

/** `bad_payload`: the model can fix it; `failed`: the request makes no sense here; `unavailable`: not the model's fault. */
export type ToolErrorReason = 'bad_payload' | 'failed' | 'unavailable'

export interface Tool<Payload = unknown> {
  readonly name: string
  /** What it does and what its payload looks like, for a model to read. */
  readonly description: string
  readonly payload: z.ZodType<Payload>
  /** Gets a payload that matches the schema. Throws only on the signal, or errors that `useTool` turns into observations. */
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
    const observation: unknown = await tool.run(checked.data, context, signal)
    if (isObservation(observation)) return observation
    throw new ToolShapeError(tool.name, observation)
  } catch (problem) {
    if (problem instanceof BrokenTask) return toolError('failed', problem.message)
    if (problem instanceof SandboxFailure) return toolError('unavailable', problem.reason)
    throw problem
  }
}

const reasons: readonly unknown[] = ['bad_payload', 'failed', 'unavailable'] satisfies ToolErrorReason[]

function isObservation(value: unknown): value is ToolObservation {
  if (typeof value !== 'object' || value === null) return false
  const { status, result, reason, message } = value as Readonly<Record<string, unknown>>
  if (status === 'ok') return typeof result === 'object' && result !== null && !Array.isArray(result)
  return status === 'error' && reasons.includes(reason) && typeof message === 'string'
}

/** A user's tool returned something other than an observation, which would only confuse the model. */
export class ToolShapeError extends Problem {
  constructor(tool: string, given: unknown) {
    const shown = inspect(given, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, 200)
    super(
      `The tool '${tool}' returned ${shown}. Return { status: 'ok', result: { … } }, with an object as result, or { status: 'error', reason: 'bad_payload' | 'failed' | 'unavailable', message: '…' } (docs/execution.md, "Tools of your own").`,
    )
  }
}
