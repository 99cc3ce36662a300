import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Clock } from '../models/clock.ts'
import { withDeadline } from '../models/deadline.ts'
import type { ExecutionSettings } from '../settings/execution.ts'
import { boundedValue } from './length-budget.ts'
import { type Tool, type ToolContext, type ToolObservation, toolError, useTool } from './tools/tool.ts'

/** A tool's observation, and what is seen of it by the node that asked, its successors and the trace. */
export interface ToolTurn {
  readonly observation: ToolObservation
  readonly seen: JsonValue
}

/** Runs a tool on a model's payload, within the time limit and the length budget. */
export async function takeToolTurn(
  tool: Tool,
  payload: JsonObject | undefined,
  context: ToolContext,
  { toolSeconds, budgets }: ExecutionSettings,
  signal: AbortSignal,
  clock: Clock,
): Promise<ToolTurn | 'aborted'> {
  const work = (until: AbortSignal) => useTool(tool, payload, context, until)
  const used =
    payload === undefined
      ? toolError('bad_payload', 'The payload is nested too deeply.')
      : await withDeadline(toolSeconds * 1000, signal, work, clock)
  if (used === 'aborted') return used
  const observation =
    used === 'timeout' ? toolError('unavailable', `The tool gave no result within ${toolSeconds} s.`) : used
  // A tool's result may hold values that JSON cannot express; keep what would be sent.
  const json = JSON.parse(JSON.stringify({ tool: tool.name, ...observation })) as JsonObject
  return { observation, seen: JSON.parse(boundedValue(json, budgets.observation)) as JsonValue }
}
