import type { NodePart } from '../../execution/packet.ts'
import { protocolVersion } from '../../execution/protocol/response.ts'
import { type JsonObject, type JsonValue, jsonTypeOf, plain } from '../../library/json-value.ts'
import type { Option, ProgramInterface } from '../../library/task.ts'

/** A node's request, as far as the simulated model reads it. */
export interface NodeRequest {
  readonly executor: { readonly id: string; readonly role: string; readonly part: NodePart }
  readonly task: AskedTask
  readonly answerRequirement: string
  /** Names of the tools that it may use now. */
  readonly tools: readonly string[]
  readonly predecessors: readonly Message[]
  /** What it asked a tool and what came of it. */
  readonly toolRequest?: JsonObject
  readonly toolObservation?: JsonValue
  /** One more try after a response that broke the rules or the length. */
  readonly again: boolean
  readonly concise: boolean
}

/** The public task as a request shows it. */
export interface AskedTask {
  readonly question: string
  readonly options: readonly Option[]
  readonly context: readonly string[]
  /** As text, a line per row. */
  readonly tables: string
  readonly program?: ProgramInterface
}

/** What a predecessor handed on. */
export interface Message {
  readonly id: string
  readonly role: string
  readonly granularity: string
  readonly status: string
  readonly analysis: string
  readonly answer: JsonValue
  readonly toolObservation?: JsonValue
}

const parts: readonly string[] = [
  'atomic',
  'worker',
  'aggregator',
  'finalizer',
  'direct',
] satisfies NodePart[]
/** Of options, predecessors and tools. No graph has as many; a hostile request may. */
const keptItems = 64

/** Reads the one user message of a request, or nothing where it is not of our protocol. Believes no field to be there. */
export function readNodeRequest(user: string): NodeRequest | undefined {
  const json = parse(user)
  if (field(json, 'protocol') !== protocolVersion) return undefined
  const executor = field(json, 'executor')
  const task = field(json, 'task')
  const part = text(field(executor, 'part'))
  if (!parts.includes(part) || text(field(task, 'question')) === '') return undefined
  const toolRequest = plain(field(json, 'tool_request'))
  const toolObservation = plain(field(json, 'tool_observation'))
  return {
    executor: {
      id: text(field(executor, 'id')),
      role: text(field(executor, 'role')),
      part: part as NodePart,
    },
    task: askedTask(task),
    answerRequirement: text(field(json, 'answer_requirement')),
    tools: few(field(json, 'tools')).map((tool) => text(field(tool, 'name'))),
    predecessors: few(field(json, 'predecessors')).map(messageOf),
    ...(isObject(toolRequest) ? { toolRequest } : {}),
    ...(toolObservation === undefined ? {} : { toolObservation }),
    again: field(json, 'repair') !== undefined,
    concise: field(json, 'concise') === true,
  }
}

/** The task as `taskView` of task-text.ts writes it. */
export function askedTask(task: unknown): AskedTask {
  const program = programOf(field(task, 'program'))
  return {
    question: text(field(task, 'question')),
    options: few(field(task, 'options')).map(optionOf),
    context: list(field(task, 'context')).map(text),
    tables: written(field(task, 'tables')),
    ...(program === undefined ? {} : { program }),
  }
}

function optionOf(option: unknown): Option {
  return { label: text(field(option, 'label')), text: text(field(option, 'text')) }
}

function programOf(program: unknown): ProgramInterface | undefined {
  if (program === undefined || program === null) return undefined
  const named = text(field(program, 'entryPoint')) || text(field(program, 'entry_point'))
  // It becomes part of a program.
  const entryPoint = /^[A-Za-z_]\w{0,99}$/.test(named) ? named : 'solve'
  if (field(program, 'mode') === 'stdin') return { mode: 'stdin', starterCode: '' }
  return { mode: 'function', starterCode: '', entryPoint }
}

function messageOf(message: unknown): Message {
  const toolObservation = plain(field(message, 'tool_observation'))
  return {
    id: text(field(message, 'id')),
    role: text(field(message, 'role')),
    granularity: text(field(message, 'granularity')),
    status: text(field(message, 'status')),
    analysis: text(field(message, 'analysis')),
    answer: plain(field(message, 'answer')) ?? null,
    ...(toolObservation === undefined ? {} : { toolObservation }),
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** An own field, so that a request that speaks of `__proto__` says nothing special. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function few(value: unknown): readonly unknown[] {
  return list(value).slice(0, keptItems)
}

function written(value: unknown): string {
  const shallow = plain(value)
  return typeof shallow === 'string' ? shallow : shallow === undefined ? '' : JSON.stringify(shallow)
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== undefined && jsonTypeOf(value) === 'object'
}
