import { type ChatModel, paperDecoding } from '../../src/execution/models/chat-model.ts'
import type { KnownTask } from '../../src/execution/models/simulated/known-task.ts'
import { addUsage, noUsage, type Usage, usageOfCall } from '../../src/execution/models/usage.ts'
import {
  parseFinalResponse,
  parseNodeResponse,
  protocolVersion,
} from '../../src/execution/protocol/response.ts'
import { taskView } from '../../src/execution/task-text.ts'
import { useTool } from '../../src/execution/tools/tool.ts'
import { tools as builtInTools } from '../../src/execution/tools/tools.ts'
import { AgentGraph, type Unit } from '../../src/graph/agent-graph.ts'
import { expand } from '../../src/graph/expansion.ts'
import type { AnswerContract } from '../../src/library/answer-contract.ts'
import type { JsonObject, JsonValue } from '../../src/library/json-value.ts'
import { paperLibrary } from '../../src/library/paper-library/paper-library.ts'
import type { BuiltInTool } from '../../src/library/tool-name.ts'

/** `role` or `role:group`, then after an arrow the positions that it listens to: `['a', 'b:group', 'c<0,1']`. */
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

export interface Outcome {
  readonly answer: JsonValue
  readonly right: boolean
  readonly usage: Usage
}

export interface NodeSettings {
  readonly executor: JsonObject
  readonly tools?: readonly string[]
  readonly predecessors?: readonly JsonObject[]
  readonly turn?: JsonObject
}

/** The user message of a node, in the shape that the executor sends. */
export function userMessage({ task }: KnownTask, contract: AnswerContract, node: NodeSettings): string {
  const { executor, tools = [], predecessors, turn } = node
  return JSON.stringify({
    protocol: protocolVersion,
    executor,
    task: taskView(task),
    answer_requirement: `${contract.requirement} Its form, for example: ${JSON.stringify(contract.example)}`,
    ...(predecessors === undefined ? {} : { predecessors }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((name) => ({ name, description: builtInTools[name as BuiltInTool].description })),
        }),
    ...turn,
  })
}

/**
 * Runs a graph on a question, one node after the other: no retries, repairs or budgets, which are the executor's. Tools
 * that run programs are missing where there is no sandbox; here they say that all is well.
 */
export async function runOrganisation(
  model: ChatModel,
  graph: AgentGraph,
  known: KnownTask,
  contract: AnswerContract,
): Promise<Outcome> {
  let usage = noUsage
  const ask = async (system: string, user: string): Promise<string> => {
    const reply = await model.ask({ system, user, decoding: paperDecoding })
    usage = addUsage(usage, usageOfCall([reply]))
    if (!reply.ok) throw new Error(reply.message)
    return reply.text
  }
  const final = async (part: 'finalizer' | 'direct', predecessors?: JsonObject[]): Promise<Outcome> => {
    const executor = { id: part, role: part, part }
    const text = await ask(
      paperLibrary.prompts[part],
      userMessage(known, contract, { executor, ...(predecessors === undefined ? {} : { predecessors }) }),
    )
    const response = parseFinalResponse(text, contract)
    const answer = response.class === 'content' ? response.answer : null
    return { answer, right: JSON.stringify(answer) === JSON.stringify(known.answer), usage }
  }
  if (graph.size === 0) return final('direct')
  const { nodes, sinks } = expand(graph)
  const packets: JsonObject[] = []
  for (const { unit, part, worker, predecessors: heard } of nodes) {
    const { role: id } = graph.units[unit]!
    const role = paperLibrary.roles[paperLibrary.space.indexOf(id)]!
    const { atomic, group } = role
    const executor =
      part === 'atomic' ? atomic! : part === 'worker' ? group!.workers[worker]! : group!.aggregator
    const node: NodeSettings = {
      executor: { id: executor.id, role: id, part },
      tools: executor.tools,
      predecessors: heard.map((index) => packets[index]!),
    }
    let response = parseNodeResponse(await ask(executor.prompt, userMessage(known, contract, node)), contract)
    let observation: JsonValue | undefined
    if (response.class === 'tool_request') {
      const { tool, payload = {} } = response
      observation = await observe(tool, payload, known)
      const turn = { tool_request: { tool, payload }, tool_observation: observation }
      const again = userMessage(known, contract, { ...node, tools: [], turn })
      response = parseNodeResponse(await ask(executor.prompt, again), contract)
    }
    if (response.class !== 'content' && response.class !== 'null_answer')
      throw new Error(`${executor.id}: ${JSON.stringify(response)}`)
    packets.push({
      id: `${executor.id}-${packets.length}`,
      role: id,
      granularity: part === 'aggregator' ? 'group' : part,
      status: response.class === 'content' ? 'ok' : 'null_answer',
      analysis: response.analysis,
      answer: response.class === 'content' ? response.answer : null,
      ...(observation === undefined ? {} : { tool_observation: observation }),
    })
  }
  return final(
    'finalizer',
    sinks.map((sink) => packets[sink]!),
  )
}

async function observe(name: string, payload: JsonObject, { task, answer }: KnownTask): Promise<JsonObject> {
  if (name === 'python_exec')
    return { status: 'ok', result: { ended: 'exited', exit_status: 0, stdout: '', stderr: '' } }
  if (name === 'public_code')
    return {
      status: 'ok',
      result: { compiles: true, passed: payload['source'] === answer ? 1 : 0, total: 1 },
    }
  const { tables = [] } = task
  return (await useTool(builtInTools[name as BuiltInTool], payload, { tables })) as unknown as JsonObject
}
