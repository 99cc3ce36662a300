import { z } from 'zod'
import { AgentGraph } from '../../graph/agent-graph.ts'
import type { Task } from '../../library/task.ts'
import { programSchema, tableSchema, testSchema } from '../../tasks/own/question.ts'
import { checkRecord, readJsonFile } from '../../tasks/sources/records.ts'
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

/** Strict: a field such as `answer` or `reference` is refused, so that no gold answer slips into a prompt. */
export const taskFile = z.strictObject({
  id: text.min(1).exactOptional(),
  question: text.min(1),
  options: z.array(z.strictObject({ label: text.min(1), text })).exactOptional(),
  context: z.array(text).exactOptional(),
  tables: z.array(tableSchema.extend({ name: text })).exactOptional(),
  program: programSchema.exactOptional(),
  publicTests: z.array(testSchema.required()).exactOptional(),
  metadata: z.record(text, text).exactOptional(),
})

/** Reads a graph: `{ "units": [{ "role", "realization", "predecessors" }] }`. */
export async function readGraphFile(path: string): Promise<AgentGraph> {
  const { units } = await readInput(path, graphFile)
  try {
    return AgentGraph.of(units)
  } catch (error) {
    throw new UsageError(`The graph file ${path} cannot be used. ${(error as Error).message}`)
  }
}

/** Reads the public part of a task. */
export async function readTaskFile(path: string): Promise<Task> {
  const { id, metadata, ...task } = await readInput(path, taskFile)
  return { id: id ?? path, metadata: metadata ?? {}, ...task }
}

async function readInput<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> {
  const { value } = await readJsonFile(path)
  return checkRecord(schema, value, { file: path })
}
