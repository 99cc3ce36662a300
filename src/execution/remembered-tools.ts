import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson, type JsonValue } from '../library/json-value.ts'
import type { Memory } from './once.ts'
import type { Toolbox } from './toolbox.ts'
import type { Tool, ToolContext, ToolObservation } from './tools/tool.ts'
import { tools as builtInTools } from './tools/tools.ts'

/** Results depend only on payload and task, and cost less than a look-up. A user's tool of the same name is not included. */
const pureTools: ReadonlySet<Tool> = new Set([builtInTools.calculator, builtInTools.table_reader])

/**
 * Tools that return the first observation again for an identical request. A program may print something else the next
 * time, which would change the calls that follow. Covers `python_exec`, `public_code` and all user-defined tools;
 * `calculator` and `table_reader` always give the same result anyway. For training only: evaluations always run their
 * tools.
 */
export function rememberTools(toolbox: Toolbox, memory: Memory<ToolObservation>): Toolbox {
  const tools = [...toolbox.tools].map(([name, tool]) => [name, remembering(tool, memory)] as const)
  return { ...toolbox, tools: new Map(tools) }
}

function remembering(tool: Tool, memory: Memory<ToolObservation>): Tool {
  if (pureTools.has(tool)) return tool
  const { name, description, payload } = tool
  return {
    name,
    description,
    payload,
    async run(input, context, signal) {
      // A user's schema may turn a payload into something that JSON cannot identify.
      if (!z.json().safeParse(input).success) return tool.run(input, context, signal)
      const observe = async (until: AbortSignal) => {
        const observation = await tool.run(input, context, until)
        // A tool that was told to stop may return a partial result.
        return { value: observation, keep: !until.aborted && !mayBeTheMachinesFault(observation) }
      }
      return (await memory.once(observationKey(tool, input as JsonValue, context), observe, signal)).value
    },
  }
}

/** Covers everything a tool can see, so that requests that could differ in their results have different keys. */
function observationKey({ name, description }: Tool, payload: JsonValue, context: ToolContext): string {
  const { tables = null, program = null, publicTests = null, sandbox } = context
  const seen = [tables, program, publicTests] as unknown as JsonValue
  const parts = ['observation-1', name, description, payload, seen, sandbox?.kind ?? null]
  return hash('sha256', canonicalJson(parts), 'hex')
}

/**
 * Whether the result might be down to the machine: no sandbox, out of time, or a lost sandbox. A program that uses up
 * its processor time would do so again; but `public_code` cannot tell that from a busy machine, so its time-outs
 * count too.
 */
function mayBeTheMachinesFault(observation: ToolObservation): boolean {
  if (observation.status === 'error') return observation.reason === 'unavailable'
  const { ended, status, tests } = observation.result
  // `public_code` reports a status for the program and one per test.
  const runs: { status?: unknown }[] = [{ status }, ...(Array.isArray(tests) ? tests : [])]
  return doubtfulEndings.includes(ended) || runs.some((run) => run?.status === 'timeout')
}

/** The words of `python_exec`. Signal 9 is what a system out of memory sends. */
const doubtfulEndings: readonly unknown[] = ['stopped', 'stopped: limit of time', 'killed by signal 9']
