import { executeGraph } from '../../src/execution/execute-graph.ts'
import type { Execution } from '../../src/execution/execution.ts'
import { openToolbox, type Toolbox } from '../../src/execution/toolbox.ts'
import { AgentGraph, type Unit } from '../../src/graph/agent-graph.ts'
import type { AnswerContract } from '../../src/library/answer-contract.ts'
import { paperLibrary } from '../../src/library/paper-library/paper-library.ts'
import { builtInTools } from '../../src/library/tool-name.ts'
import { CallLimit } from '../../src/models/call-limit.ts'
import type { ChatModel } from '../../src/models/chat-model.ts'
import { executionSettings } from '../../src/settings/execution.ts'
import { answerKey, formOfAnswer } from '../../src/simulator/model/answer-form.ts'
import type { KnownTask } from '../../src/simulator/model/known-task.ts'

/**
 * A graph in short form: `role` or `role:group`, and after `<` the positions it listens to, as in
 * `verifier<0,1`.
 */
export function graphOf(...units: readonly string[]): AgentGraph {
  return AgentGraph.of(
    units.map((text): Unit => {
      const [who = '', heard = ''] = text.split('<')
      const [role = '', realization = 'atomic'] = who.split(':')
      return {
        role,
        realization: realization as Unit['realization'],
        predecessors: heard === '' ? [] : heard.split(',').map(Number),
      }
    }),
  )
}

const settings = executionSettings.parse({ traceContent: false })
const withoutSandbox = openToolbox()
const limit = new CallLimit(1000)

/** Executes a graph on a question with a known answer, with the paper's library and all available tools. */
export async function runOrganisation(
  model: ChatModel,
  graph: AgentGraph,
  { task, answer }: KnownTask,
  contract: AnswerContract,
  tools: Toolbox = withoutSandbox,
): Promise<{ right: boolean; execution: Execution }> {
  const profile = { id: 'test', tools: builtInTools }
  const execution = await executeGraph({
    graph,
    task,
    library: paperLibrary,
    profile,
    contract,
    model,
    tools,
    settings,
    limit,
  })
  const form = formOfAnswer(answer, task)
  const right =
    execution.answer !== undefined && answerKey(execution.answer, form) === answerKey(answer, form)
  return { right, execution }
}
