import { z } from 'zod'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { assertLegalGraph } from '../../graph/legality.ts'
import type { Library } from '../../library/library.ts'
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

/** Strict: rejects fields such as `answer` or `reference`, so that no gold answer slips into a prompt. */
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

/**
 * Reads a graph, `{ "units": [{ "role", "realization", "predecessors" }] }`, and checks it against the library. Size and
 * depth are not limited: those limits belong to policies, not to execution.
 */
export async function readGraphFile(path: string, library: Library): Promise<AgentGraph> {
  const { units } = await readInput(path, graphFile)
  const unlimited = { maxUnits: Number.POSITIVE_INFINITY, maxDepth: Number.POSITIVE_INFINITY }
  const attempt = <Result>(what: string, act: () => Result): Result => {
    try {
      return act()
    } catch (error) {
      throw new UsageError(`The graph file ${path} ${what}. ${(error as Error).message}`)
    }
  }
  const graph = attempt('is not valid', () => AgentGraph.of(units))
  attempt('does not fit the library', () =>
    assertLegalGraph(graph, { roles: library.space, restriction: 'mixed', ...unlimited }),
  )
  return graph
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
