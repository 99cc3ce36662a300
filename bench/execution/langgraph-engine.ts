import type { Engine } from './engine.ts'
import { type PeerNode, peerNodes } from './peer-nodes.ts'
import { importPeer } from './peer-packages.ts'

/** The part of `@langchain/langgraph` that we use. */
interface LangGraph {
  readonly START: string
  readonly END: string
  readonly Annotation: {
    <Value>(channel: { reducer: (left: Value, right: Value) => Value; default: () => Value }): object
    Root(channels: Record<string, object>): object
  }
  readonly StateGraph: new (state: object) => StateGraph
}

interface StateGraph {
  addNode(name: string, run: (state: State) => Promise<State>): void
  /** Several start nodes: waits for all of them. */
  addEdge(from: string | string[], to: string): void
  compile(): { invoke(state: State): Promise<State> }
}

/** Messages by node. */
interface State {
  readonly messages: Readonly<Record<string, string>>
}

/** One state with a reducer was faster for LangGraph than a channel per node. Compiled once, without a checkpointer. */
export async function langgraphEngine(peerFolder: string): Promise<Engine> {
  const langgraph = (await importPeer(peerFolder, 'langgraph')) as LangGraph
  return {
    prepare: (graph, model) => {
      const compiled = compile(langgraph, peerNodes(graph, model))
      return () => compiled.invoke({ messages: {} })
    },
    answerOf: (result) => (result as State).messages['finalizer'],
  }
}

function compile({ Annotation, StateGraph, START, END }: LangGraph, nodes: readonly PeerNode[]) {
  const messages = Annotation<State['messages']>({
    reducer: (left, right) => ({ ...left, ...right }),
    default: () => ({}),
  })
  const graph = new StateGraph(Annotation.Root({ messages }))
  for (const { id, predecessors, run } of nodes) {
    const heard = predecessors.map((predecessor) => nodes[predecessor]!.id)
    graph.addNode(id, async (state) => ({
      messages: { [id]: await run(heard.map((node) => state.messages[node]!)) },
    }))
  }
  for (const { id, predecessors } of nodes) {
    const heard = predecessors.map((predecessor) => nodes[predecessor]!.id)
    if (heard.length === 0) graph.addEdge(START, id)
    else graph.addEdge(heard.length === 1 ? heard[0]! : heard, id)
  }
  graph.addEdge(nodes.at(-1)!.id, END)
  return graph.compile()
}
