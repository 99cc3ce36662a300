import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import type { ChatModel } from '../../src/models/chat-model.ts'

/** Something that executes graphs. */
export interface Engine {
  /** Prepares a graph once; the result runs it once. */
  prepare(graph: AgentGraph, model: ChatModel): () => Promise<unknown>
  /** The answer in a run's result. */
  answerOf(result: unknown): unknown
}

export const engineNames = ['magic', 'promises', 'langgraph', 'mastra'] as const

export type EngineName = (typeof engineNames)[number]

/** Peers are imported from their installation folder. */
export async function loadEngine(name: EngineName, peerFolder: string): Promise<Engine> {
  switch (name) {
    case 'magic':
      return (await import('./magic-engine.ts')).magicEngine
    case 'promises':
      return (await import('./promises-engine.ts')).promisesEngine
    case 'langgraph':
      return (await import('./langgraph-engine.ts')).langgraphEngine(peerFolder)
    case 'mastra':
      return (await import('./mastra-engine.ts')).mastraEngine(peerFolder)
  }
}
