import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson, type JsonValue } from '../library/json-value.ts'
import type { Memory } from './once.ts'
import type { Toolbox } from './toolbox.ts'
import type { Tool, ToolContext, ToolObservation } from './tools/tool.ts'
import { tools as builtInTools } from './tools/tools.ts'

/** These follow from payload and task alone, and cost less than a look-up. A user's tool of the same name is not one of them. */
const pureTools: ReadonlySet<Tool> = new Set([builtInTools.calculator, builtInTools.table_reader])

/**
 * The same tools, except that a second request for the same thing gets what the first one observed: a program may print
 * something else the next time, and the calls after it would be others. Everything is remembered but the built-in tools
 * that cannot differ, `calculator` and `table_reader`; so `python_exec`, `public_code` and all of a user's own are.
 * For training only: an evaluation of a policy looks for itself.
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
      // A schema of a user's own may make something of a payload that JSON cannot tell from other things.
      if (!z.json().safeParse(input).success) return tool.run(input, context, signal)
      const observe = async (until: AbortSignal) => {
        const observation = await tool.run(input, context, until)
        // A tool that was told to stop may have given half of what it would have seen.
        return { value: observation, keep: !until.aborted && !mayBeTheMachinesFault(observation) }
      }
      return (await memory.once(observationKey(tool, input as JsonValue, context), observe, signal)).value
    },
  }
}

/** All that a tool may know: two requests that differ in any of it may be answered differently. */
function observationKey({ name, description }: Tool, payload: JsonValue, context: ToolContext): string {
  const { tables = null, program = null, publicTests = null, sandbox } = context
  const seen = [tables, program, publicTests] as unknown as JsonValue
  const parts = ['observation-1', name, description, payload, seen, sandbox?.kind ?? null]
  return hash('sha256', canonicalJson(parts), 'hex')
}

/**
 * Whether a better day could show something else: no sandbox, no time, a sandbox that was lost. A program that runs out of
 * processor time does so by itself; `public_code` does not tell that from a busy machine, so there it is in doubt too.
 */
function mayBeTheMachinesFault(observation: ToolObservation): boolean {
  if (observation.status === 'error') return observation.reason === 'unavailable'
  const { ended, status, tests } = observation.result
  // `public_code` says it of the program and of each test.
  const runs: { status?: unknown }[] = [{ status }, ...(Array.isArray(tests) ? tests : [])]
  return doubtfulEndings.includes(ended) || runs.some((run) => run?.status === 'timeout')
}

/** As `python_exec` says it. Signal 9 comes from a system that is out of memory. */
const doubtfulEndings: readonly unknown[] = ['stopped', 'stopped: limit of time', 'killed by signal 9']
