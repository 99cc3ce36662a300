import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { fieldName, findJsonFault } from '../../library/json-fault.ts'
import type { Task } from '../../library/task.ts'
import { UsageError } from '../problem.ts'

const text = z.string()

const graphFile = z.object({
  units: z.array(
    z.strictObject({
      role: text.min(1),
      realization: z.enum(['atomic', 'group']),
      predecessors: z.array(z.int().nonnegative()).default([]),
    }),
  ),
})

const table = z.strictObject({
  name: text,
  caption: text.exactOptional(),
  header: z.array(text).exactOptional(),
  rows: z.array(z.array(text)),
})

/** Strict: a field such as `answer` or `reference` is refused, so that no gold answer slips into a prompt. */
export const taskFile = z.strictObject({
  id: text.min(1).exactOptional(),
  question: text.min(1),
  options: z.array(z.strictObject({ label: text.min(1), text })).exactOptional(),
  context: z.array(text).exactOptional(),
  tables: z.array(table).exactOptional(),
  program: z
    .discriminatedUnion('mode', [
      z.strictObject({ mode: z.literal('stdin'), starterCode: text.default('') }),
      z.strictObject({ mode: z.literal('function'), starterCode: text.default(''), entryPoint: text.min(1) }),
    ])
    .exactOptional(),
  publicTests: z
    .array(z.strictObject({ testtype: z.enum(['stdin', 'functional']), input: text, output: text }))
    .exactOptional(),
  metadata: z.record(text, text).exactOptional(),
})

/** Reads a graph: `{ "units": [{ "role", "realization", "predecessors" }] }`. */
export function readGraphFile(path: string): AgentGraph {
  const { units } = readJsonFile(path, 'graph', graphFile)
  try {
    return AgentGraph.of(units)
  } catch (error) {
    throw new UsageError(`The graph file ${path} cannot be used. ${(error as Error).message}`)
  }
}

/** Reads the public part of a task. */
export function readTaskFile(path: string): Task {
  const { id, metadata, ...task } = readJsonFile(path, 'task', taskFile)
  return { id: id ?? path, metadata: metadata ?? {}, ...task }
}

const maxBytes = 16 * 1024 * 1024

function readJsonFile<Schema extends z.ZodType>(
  path: string,
  kind: string,
  schema: Schema,
): z.output<Schema> {
  const refuse = (problem: string): never => {
    throw new UsageError(`The ${kind} file ${path} cannot be used: ${problem}`)
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined) return refuse('there is no such file. Check the path.')
  if (!status.isFile()) refuse('it is no regular file. Give one with the JSON in it.')
  if (status.size > maxBytes) refuse(`it has ${status.size} bytes; at most ${maxBytes} are read.`)
  const json = readFileSync(path, 'utf8')
  let content: unknown
  try {
    content = JSON.parse(json)
  } catch (error) {
    refuse(`it is not JSON (${(error as Error).message}).`)
  }
  const fault = findJsonFault(json)
  if (fault !== undefined) refuse(`line ${fault.line}, ${fieldName(fault.path) || '(top)'}: ${fault.problem}`)
  const result = schema.safeParse(content)
  return result.success ? result.data : refuse(`\n${z.prettifyError(result.error)}`)
}
