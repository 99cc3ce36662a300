import { readFileSync, statSync } from 'node:fs'
import type { z } from 'zod'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { fieldName, findJsonFault } from '../../library/json-fault.ts'
import type { Task } from '../../library/task.ts'
import { UsageError } from '../problem.ts'
import { graphFileSchema, taskFileSchema } from './input-schema.ts'

const maxBytes = 16 * 1024 * 1024

/** Reads a graph: `{ "units": [{ "role", "realization", "predecessors" }] }`. */
export function readGraphFile(path: string): AgentGraph {
  const { units } = readJsonFile(path, 'graph', graphFileSchema)
  try {
    return AgentGraph.of(units)
  } catch (error) {
    throw new UsageError(`The graph file ${path} cannot be used. ${(error as Error).message}`)
  }
}

/** Reads the public part of a task. A reference answer has no place in it. */
export function readTaskFile(path: string): Task {
  const { id, metadata, ...task } = readJsonFile(path, 'task', taskFileSchema)
  return { id: id ?? path, metadata: metadata ?? {}, ...task }
}

function readJsonFile<Schema extends z.ZodType>(
  path: string,
  kind: string,
  schema: Schema,
): z.output<Schema> {
  const refuse = (problem: string): never => {
    throw new UsageError(`The ${kind} file ${path} cannot be used: ${problem}`)
  }
  let text = ''
  try {
    const status = statSync(path)
    if (!status.isFile()) refuse('it is no regular file. Give one with the JSON in it.')
    const { size } = status
    if (size > maxBytes) refuse(`it has ${size} bytes; at most ${maxBytes} are read.`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code } = error as NodeJS.ErrnoException
    refuse(code === 'ENOENT' ? 'there is no such file. Check the path.' : `it cannot be read (${code}).`)
  }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    refuse(`it is not JSON (${(error as Error).message}).`)
  }
  const fault = findJsonFault(text)
  if (fault !== undefined) refuse(`line ${fault.line}, ${fieldName(fault.path) || '(top)'}: ${fault.problem}`)
  const result = schema.safeParse(content)
  if (result.success) return result.data
  const problems = result.error.issues.map(
    ({ path: field, message }) => `  ${field.join('.') || '(top)'}: ${message}`,
  )
  return refuse(`\n${problems.join('\n')}`)
}
