// Reads a node's request to the simulated model. A request may be hostile: missing fields and wrong types count as
// empty.
import { protocolVersion } from '../../execution/protocol/response.ts'
import { plain } from '../../library/json-value.ts'
import type { ProgramInterface } from '../../library/task.ts'

const parts = ['atomic', 'worker', 'aggregator', 'finalizer', 'direct'] as const

/** Limit on options, predecessors and tools. No graph has as many, but a hostile request may. */
const maxItems = 64

export type AskedNode = NonNullable<ReturnType<typeof readNodeRequest>>
export type AskedTask = ReturnType<typeof askedTask>
export type HeardMessage = ReturnType<typeof heardMessage>

/** Reads the user message of a request; undefined if it is not of our protocol. */
export function readNodeRequest(user: string) {
  const node = fieldsOf(parsed(user))
  const executor = fieldsOf(node.executor)
  const part = parts.find((one) => one === executor.part)
  const task = askedTask(node.task)
  if (node.protocol !== protocolVersion || part === undefined || task.question === '') return undefined
  const { agent } = executor
  return {
    executor: {
      id: fieldText(executor.id),
      role: fieldText(executor.role),
      part,
      ...(typeof agent === 'number' && { agent }),
    },
    task,
    answerRequirement: fieldText(node.answer_requirement),
    /** Names of the tools it may use now. */
    tools: few(node.tools).map(({ name }) => fieldText(name)),
    predecessors: few(node.predecessors).map(heardMessage),
    /** The tool it has used, and the result. */
    tool: fieldText(fieldsOf(plain(node.tool_request)).tool),
    toolObservation: plain(node.tool_observation),
    /** Whether this is a retry after a response that broke the rules or was too long. */
    again: node.repair !== undefined,
    concise: node.concise === true,
    /** Extra information from the organisation, and the names of the extra fields requested. */
    brief: fieldsOf(plain(node.brief)),
    also: Object.keys(fieldsOf(node.also)).slice(0, maxItems),
  }
}

export type AskedControl = NonNullable<ReturnType<typeof readControlRequest>>

/** Reads a request for a plan, a ranking or a verdict; undefined if it is not one. */
export function readControlRequest(user: string) {
  const node = fieldsOf(parsed(user))
  const executor = fieldsOf(node.executor)
  const task = askedTask(node.task)
  if (node.protocol !== protocolVersion || executor.part !== 'control' || task.question === '')
    return undefined
  return {
    role: fieldText(executor.role),
    task,
    answerRequirement: fieldText(node.answer_requirement),
    predecessors: few(node.predecessors).map(heardMessage),
    brief: fieldsOf(plain(node.brief)),
    /** The names of the requested fields. */
    reply: Object.keys(fieldsOf(node.reply)).slice(0, maxItems),
  }
}

/** The public task as written by `taskView` of text.ts. */
export function askedTask(view: unknown) {
  const { question, options, context, tables, program } = fieldsOf(view)
  const shown = plain(tables) ?? ''
  return {
    question: fieldText(question),
    options: few(options).map((option) => ({ label: fieldText(option.label), text: fieldText(option.text) })),
    context: list(context).map(fieldText),
    /** As text, one line per row. */
    tables: typeof shown === 'string' ? shown : JSON.stringify(shown),
    program: program === undefined || program === null ? undefined : interfaceOf(fieldsOf(program)),
  }
}

/** A predecessor's message. */
function heardMessage(message: Fields) {
  return {
    id: fieldText(message.id),
    role: fieldText(message.role),
    granularity: fieldText(message.granularity),
    status: fieldText(message.status),
    analysis: fieldText(message.analysis),
    answer: plain(message.answer) ?? null,
    toolObservation: plain(message.tool_observation),
  }
}

function interfaceOf({ mode, entryPoint, entry_point }: Fields): ProgramInterface {
  if (mode === 'stdin') return { mode, starterCode: '' }
  const name = fieldText(entryPoint) || fieldText(entry_point)
  // Checked, because it becomes part of a program.
  return { mode: 'function', starterCode: '', entryPoint: /^[A-Za-z_]\w{0,99}$/.test(name) ? name : 'solve' }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

export type Fields = Readonly<Record<string, unknown>>

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export function fieldText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function few(value: unknown): readonly Fields[] {
  return list(value).slice(0, maxItems).map(fieldsOf)
}
