import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { executeDrive } from '../../src/execution/execute-drive.ts'
import { executeGraph } from '../../src/execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../../src/execution/execution.ts'
import { emptyToolbox, type Toolbox } from '../../src/execution/toolbox.ts'
import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import { numericString } from '../../src/library/answer-contract.ts'
import { defineLibrary } from '../../src/library/define-library.ts'
import type { JsonObject } from '../../src/library/json-value.ts'
import type { Library } from '../../src/library/library.ts'
import type { Task } from '../../src/library/task.ts'
import { openOrganisation } from '../../src/organisations/open-organisation.ts'
import { isDriver, type OrganisationDefinition } from '../../src/organisations/organisation.ts'
import { content, final, type Heard, ScriptedModel } from '../scripted-model.ts'

const role = (id: string, more: object = {}) => ({
  id,
  description: `It is the ${id}.`,
  atomic: { id, responsibility: `Be the ${id}.`, prompt: `You are the ${id}.` },
  ...more,
})

/** Five roles; nobody may hear the fifth. */
export const fiveRoles = defineLibrary({
  roles: [
    ...['alpha', 'beta', 'gamma', 'delta'].map((id) => role(id, { accepts: ['analysis'] })),
    role('omega', { accepts: ['analysis'], produces: ['verdict'] }),
  ],
})

export const sum: Task = { id: 'sum', question: 'What is 6 times 7?', metadata: {} }

/** A call as a recipe describes it: who is asked, and whose answers it hears. */
export interface AskedCall {
  readonly who: string
  readonly hears: readonly string[]
  readonly brief?: JsonObject
  readonly temperature: number
  /** If it differs from the execution's. */
  readonly model?: string
}

/** Numbers answer the task; an object is a complete control reply, or content with extra fields. */
export type Say = (call: AskedCall, earlier: readonly AskedCall[]) => unknown

interface RunOptions {
  readonly task?: Task
  readonly seed?: number
  readonly tools?: Toolbox
  readonly library?: Library
  /** Names of further models, which use the same script. */
  readonly pool?: readonly string[]
}

/** Runs an organisation on one task with a scripted model, and records every call in order. */
export async function runOrganisation(
  definition: OrganisationDefinition,
  options: JsonObject,
  say: Say,
  given: RunOptions = {},
) {
  const { library = fiveRoles, seed = 1, task = sum, tools = emptyToolbox } = given
  const opening = { library, profile: profileOf(tools), seed, encoder: async () => lexicalEncoder }
  const { organisation, about } = await openOrganisation(definition, opening, options)
  if (!isDriver(organisation))
    return { ...(await runGraph(await organisation.graphFor(task), say, given)), about }
  const run = await runScripted(say, given, (means) => executeDrive({ ...means, drive: organisation.drive }))
  return { ...run, about }
}

/** The same for a graph. */
export function runGraph(graph: AgentGraph, say: Say, given: RunOptions = {}) {
  return runScripted(say, given, (means) => executeGraph({ ...means, graph }))
}

async function runScripted(
  say: Say,
  { task = sum, tools = emptyToolbox, library = fiveRoles, pool = [] }: RunOptions,
  execute: (means: Omit<ExecutionOptions, 'graph'>) => Promise<Execution>,
) {
  const calls: AskedCall[] = []
  const speaking = (name?: string) =>
    new ScriptedModel((heard) => {
      const call = { ...callOf(heard), ...(name !== undefined && { model: name }) }
      const said = say(call, [...calls])
      calls.push(call)
      return replyTo(heard, said)
    })
  const model = speaking()
  const models = Object.fromEntries(pool.map((name) => [name, speaking(name)]))
  const means = { task, library, profile: profileOf(tools), contract: numericString, model, models, tools }
  const execution = await execute(means)
  return { calls, execution, answer: execution.answer, model }
}

function profileOf(tools: Toolbox) {
  return { id: 'tests', tools: [...tools.tools.keys()] }
}

function callOf({ executor, message, raw }: Heard): AskedCall {
  const { agent } = executor as { agent?: number }
  const brief = message['brief'] as JsonObject | undefined
  const hears = (message.predecessors ?? []).map(
    ({ id, answer, self }) => `${nameIn(id)}${self === true ? ' (self)' : ''}: ${answer}`,
  )
  const isMember = executor.part === 'worker' || executor.part === 'aggregator'
  return {
    who: `${isMember ? executor.id : executor.role}${agent === undefined ? '' : ` ${agent}`}`,
    hears,
    ...(brief && { brief }),
    temperature: raw.decoding.temperature,
  }
}

/** Without the digest at the end of a graph's name. */
function nameIn(id: string): string {
  return id.replace(/-[0-9a-f]{8}(?:#\d+)?$/, '')
}

function replyTo({ executor }: Heard, said: unknown): string {
  if (executor.part === 'control') return typeof said === 'string' ? said : JSON.stringify(said)
  if (typeof said === 'object' && said !== null)
    return JSON.stringify({ kind: 'content', content: { analysis: 'So it is.', ...said } })
  const answer = said === null ? null : String(said)
  return executor.part === 'finalizer' || executor.part === 'direct'
    ? final('So it is.', answer)
    : content('So it is.', answer)
}

/** Who was asked, in order. */
export const asked = (calls: readonly AskedCall[]): string[] => calls.map(({ who }) => who)
