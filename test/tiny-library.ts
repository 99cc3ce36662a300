import type { ExecutionOptions } from '../src/execution/execution.ts'
import type { AgentGraph } from '../src/graph/agent-graph.ts'
import { freeText } from '../src/library/answer-contract.ts'
import { defineLibrary } from '../src/library/define-library.ts'
import type { ExecutorDefinition, Library, RoleDefinition } from '../src/library/library.ts'
import type { ChatModel } from '../src/models/chat-model.ts'

function executor(id: string, tools: readonly string[] = []): ExecutorDefinition {
  return { id, responsibility: `Be ${id}.`, prompt: `You are ${id}.`, tools }
}

function role(id: string, tools: readonly string[] = []): RoleDefinition {
  return {
    id,
    description: `The role ${id}.`,
    atomic: executor(id, tools),
    group: {
      workers: [executor(`${id}_1`, tools), executor(`${id}_2`), executor(`${id}_3`)],
      aggregator: executor(`${id}_all`),
    },
  }
}

/**
 * Roles `a` and `b`; and `c`, whose atomic executor and first worker may use the calculator and the table
 * reader.
 */
export const tinyLibrary: Library = defineLibrary({
  roles: [role('a'), role('b'), role('c', ['calculator', 'table_reader'])],
  prompts: { finalizer: 'You decide.', direct: 'Answer.' },
})

export const tinyProfile = { id: 'tiny', roles: ['a', 'b', 'c'], tools: ['calculator'] } as const

/** A unit realised by its role's atomic executor. */
export const atomic = (role: string, predecessors: readonly number[] = []) =>
  ({ role, realization: 'atomic', predecessors }) as const

/** Options to execute a graph of the tiny library on a short question, without waiting between attempts. */
export function tinyExecution(
  graph: AgentGraph,
  model: ChatModel,
  more: Partial<ExecutionOptions> = {},
): ExecutionOptions {
  return {
    graph,
    task: { id: 't', question: 'What?', metadata: {} },
    library: tinyLibrary,
    profile: tinyProfile,
    contract: freeText,
    model,
    clock: { now: () => 0, sleep: async () => {} },
    ...more,
  }
}
