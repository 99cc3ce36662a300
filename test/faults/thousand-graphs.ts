// Runs a thousand graphs concurrently with a small heap, and prints how many were answered.
import { executeGraph } from '../../src/execution/execute-graph.ts'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { freeText } from '../../src/library/answer-contract.ts'
import { fitting, ScriptedModel } from '../scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../tiny-library.ts'

const graph = AgentGraph.of([
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'b', realization: 'group', predecessors: [0] },
  { role: 'c', realization: 'group', predecessors: [0, 1] },
])

const model = new ScriptedModel((heard) =>
  fitting(heard, `${heard.executor.id} ${'word '.repeat(400)}`, 'yes'),
)
// It records its requests, which here would be the whole run.
model.heard.push = () => 0

const statuses = await Promise.all(
  Array.from({ length: 1000 }, async (_, index) => {
    const task = { id: String(index), question: `${index} ${'What is it? '.repeat(300)}`, metadata: {} }
    const execution = await executeGraph({
      graph,
      task,
      library: tinyLibrary,
      profile: tinyProfile,
      contract: freeText,
      model,
    })
    return execution.status
  }),
)
console.log(statuses.filter((status) => status === 'answered').length, model.mostInFlight)
