import { lexicalEncoder } from '../src/encoder/lexical-encoder.ts'
import { executeDrive } from '../src/execution/execute-drive.ts'
import { executeGraph } from '../src/execution/execute-graph.ts'
import { emptyToolbox, type Toolbox } from '../src/execution/toolbox.ts'
import { numericString } from '../src/library/answer-contract.ts'
import { defineLibrary } from '../src/library/define-library.ts'
import type { JsonObject } from '../src/library/json-value.ts'
import type { Task } from '../src/library/task.ts'
import { openOrganisation } from '../src/organisations/open-organisation.ts'
import { isDriver, type OrganisationDefinition } from '../src/organisations/organisation.ts'
import { content, final, type Heard, ScriptedModel } from './scripted-model.ts'

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

/** A call as a recipe describes it: who is asked, and whom it hears with which answer. */
export interface AskedCall {
  readonly who: string
  readonly hears: readonly string[]
  readonly brief?: JsonObject
  readonly temperature: number
}

/** Numbers answer the task; an object is a whole control reply, or content with further fields. */
export type Say = (call: AskedCall, earlier: readonly AskedCall[]) => unknown

/** Runs an organisation on one task with a model that says what the script says, and writes down every call in order. */
export async function runOrganisation(
  definition: OrganisationDefinition,
  options: JsonObject,
  say: Say,
  { task = sum, seed = 1, tools = emptyToolbox }: { task?: Task; seed?: number; tools?: Toolbox } = {},
) {
  const calls: AskedCall[] = []
  const model = new ScriptedModel((heard) => {
    const call = callOf(heard)
    const said = say(call, [...calls])
    calls.push(call)
    return replyTo(heard, said)
  })
  const profile = { id: 'tests', tools: [...tools.tools.keys()] }
  const means = { library: fiveRoles, profile, seed, encoder: async () => lexicalEncoder }
  const { organisation, about } = await openOrganisation(definition, means, options)
  const given = { task, library: fiveRoles, profile, contract: numericString, model, tools }
  const execution = isDriver(organisation)
    ? await executeDrive({ ...given, drive: organisation.drive })
    : await executeGraph({ ...given, graph: await organisation.graphFor(task) })
  return { calls, execution, about, answer: execution.answer, model }
}

function callOf({ executor, message, raw }: Heard): AskedCall {
  const { agent } = executor as { agent?: number }
  const brief = message['brief'] as JsonObject | undefined
  const hears = (message.predecessors ?? []).map(
    ({ id, role, answer, self }) =>
      `${/-\d{1,2}$/.test(id) ? id : role}${self === true ? ' (self)' : ''}: ${answer}`,
  )
  return {
    who: `${executor.role}${agent === undefined ? '' : ` ${agent}`}`,
    hears,
    ...(brief && { brief }),
    temperature: raw.decoding.temperature,
  }
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
