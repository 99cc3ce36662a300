import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject, type JsonValue } from '../library/json-value.ts'
import { SingleFlight } from './single-flight.ts'
import type { Toolbox } from './toolbox.ts'
import type { Tool, ToolContext, ToolObservation } from './tools/tool.ts'
import { tools as builtInTools } from './tools/tools.ts'

/** What tools observed earlier, by digest. The first observation under a digest stays. */
export interface ObservationMemory {
  find(digest: string): JsonValue | undefined | Promise<JsonValue | undefined>
  /** The observation is handed on when this has ended. */
  keep(digest: string, observation: JsonValue): void | Promise<void>
}

/** These follow from payload and task alone, at less than a look-up costs. They are meant themselves, not their names. */
const pureTools: ReadonlySet<Tool> = new Set([builtInTools.calculator, builtInTools.table_reader])

/**
 * The same tools, except that a second request for the same thing gets what the first one observed: a program may print
 * something else the next time, and the calls after it would be others. Everything is remembered but the built-in tools
 * that cannot differ, `calculator` and `table_reader`; so `python_exec`, `public_code` and all of a user's own are.
 * For training only, like `RequestCache`: an evaluation of a policy looks for itself.
 */
export function rememberTools(toolbox: Toolbox, memory: ObservationMemory): Toolbox {
  const tools = [...toolbox.tools].map(([name, tool]) => [name, remembering(tool, memory)] as const)
  return { ...toolbox, tools: new Map(tools) }
}

function remembering(tool: Tool, memory: ObservationMemory): Tool {
  if (pureTools.has(tool)) return tool
  const { name, description, payload } = tool
  return {
    name,
    description,
    payload,
    async run(input, context, signal) {
      // A schema of a user's own may make something of a payload that JSON cannot tell from other things.
      if (!isJson(input)) return tool.run(input, context, signal)
      const key = observationKey(tool, input, context)
      const observe = (until: AbortSignal) => tool.run(input, context, until)
      return findTogether(memory, key, (until) => findOrObserve(memory, key, observe, until), signal)
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

async function findOrObserve(
  memory: ObservationMemory,
  key: string,
  observe: (signal: AbortSignal) => Promise<ToolObservation>,
  signal: AbortSignal,
): Promise<ToolObservation> {
  const known = await memory.find(key)
  if (known !== undefined) return known as unknown as ToolObservation
  const observation = await observe(signal)
  // A tool that was told to stop may have given half of what it would have seen.
  if (signal.aborted || mayBeTheMachinesFault(observation)) return observation
  const json = JSON.parse(JSON.stringify(observation)) as JsonValue
  await memory.keep(key, json)
  // Somebody else may have been first: what is handed on is what will be found.
  return ((await memory.find(key)) ?? json) as unknown as ToolObservation
}

/**
 * Whether a better day could show something else: no sandbox, no time, a sandbox that was lost. A program that runs out of
 * processor time does so by itself; `public_code` does not tell that from a busy machine, so there it is in doubt too.
 */
function mayBeTheMachinesFault(observation: ToolObservation): boolean {
  if (observation.status === 'error') return observation.reason === 'unavailable'
  const { ended, status, tests } = observation.result
  const statuses = [status, ...(Array.isArray(tests) ? tests.map((test: unknown) => statusOf(test)) : [])]
  return doubtfulEndings.has(ended) || statuses.some((one) => doubtfulStatuses.has(one))
}

/** As `python_exec` says it. Signal 9 comes from a system that is out of memory. */
const doubtfulEndings: ReadonlySet<unknown> = new Set([
  'stopped',
  'stopped: limit of time',
  'killed by signal 9',
])

/** As `public_code` says it, of the program and of each test. */
const doubtfulStatuses: ReadonlySet<unknown> = new Set(['timeout'])

function statusOf(test: unknown): unknown {
  return typeof test === 'object' && test !== null && 'status' in test ? test.status : undefined
}

function isJson(value: unknown): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null) return true
  if (Array.isArray(value)) return value.every(isJson)
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    (prototype === null || prototype === Object.prototype) && Object.values(value as JsonObject).every(isJson)
  )
}

const flights = new WeakMap<ObservationMemory, SingleFlight<ToolObservation>>()

/** Lets all who want the same at the same time wait for one observation. */
async function findTogether(
  memory: ObservationMemory,
  key: string,
  find: (signal: AbortSignal) => Promise<ToolObservation>,
  signal: AbortSignal | undefined,
): Promise<ToolObservation> {
  signal?.throwIfAborted()
  const inFlight = flights.get(memory) ?? new SingleFlight<ToolObservation>()
  flights.set(memory, inFlight)
  return (await inFlight.run(key, find, signal)).value
}
