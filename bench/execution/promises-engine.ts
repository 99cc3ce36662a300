import type { Engine } from './engine.ts'
import { peerNodes } from './peer-nodes.ts'

/** Handwritten, without an engine: every node is a promise that awaits its predecessors. */
export const promisesEngine: Engine = {
  prepare: (graph, model) => {
    const nodes = peerNodes(graph, model)
    return () => {
      const results: Promise<string>[] = []
      for (const { predecessors, run } of nodes) {
        const heard = predecessors.map((predecessor) => results[predecessor]!)
        results.push(heard.length === 0 ? run([]) : Promise.all(heard).then(run))
      }
      return results.at(-1)!
    }
  },
  answerOf: (result) => result,
}
