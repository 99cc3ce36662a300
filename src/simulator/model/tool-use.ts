import type { JsonObject, JsonValue } from '../../library/json-value.ts'
import type { Option, Task } from '../../library/task.ts'
import { numericValue } from './answer-form.ts'
import { toolGain } from './constants.ts'
import type { AskedNode, AskedTask } from './node-request.ts'
import { numbersIn, type QuestionKind } from './question-kind.ts'

/** The outcome of a node's own tool request. */
export interface ToolTrial {
  readonly name: string
  readonly worked: boolean
  /** The tested program failed a public test. */
  readonly testsFailed: boolean
}

/** How often the second of two equally good tools is chosen. */
const secondChoice = 0.3

/** The best tool for this kind of question, if any. `draw` breaks ties. */
export function chooseTool({ tools, task }: AskedNode, kind: QuestionKind, draw: number): string | undefined {
  const [first, second] = tools
    .filter((tool) => tool !== 'table_reader' || task.tables !== '')
    .filter((tool) => tool !== 'public_code' || task.program !== undefined)
    .filter((tool) => toolGain(tool, kind) > 0)
    .sort((a, b) => toolGain(b, kind) - toolGain(a, kind))
  if (first === undefined || second === undefined) return first
  const tie = toolGain(first, kind) === toolGain(second, kind)
  return tie && draw < secondChoice ? second : first
}

/** A payload that the tool accepts and that leads to the intended answer. */
export function payloadFor(tool: string, asked: AskedTask, known: Task, answer: JsonValue): JsonObject {
  if (tool === 'table_reader') return tableQuery(asked.question, known)
  if (tool !== 'calculator' && asked.program !== undefined && typeof answer === 'string')
    return { source: answer }
  const expression = expressionFor(numberBehind(answer, asked.options), asked.question)
  return tool === 'calculator' ? { expression } : { source: `print(${expression})` }
}

/** Reads the observation of the node's own tool, if it used one. */
export function readTrial({ tool, toolObservation }: AskedNode): ToolTrial | undefined {
  if (toolObservation === undefined) return undefined
  const result = field(toolObservation, 'result')
  const [passed, total] = [field(result, 'passed'), field(result, 'total')]
  const testsFailed =
    field(result, 'compiles') === false ||
    (typeof passed === 'number' && typeof total === 'number' && passed < total)
  return { name: tool, worked: didWork(toolObservation), testsFailed }
}

/** Whether an observation, its own or a predecessor's, comes from a tool that worked. */
export function didWork(observation: JsonValue): boolean {
  // A message may contain it only as text.
  if (typeof observation === 'string') return !observation.includes('"status":"error"')
  if (field(observation, 'status') === 'error') return false
  const exit = field(field(observation, 'result'), 'exit_status')
  return exit === undefined || exit === 0
}

/** Own fields only, so that `__proto__` in a request has no effect. */
function field(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as JsonObject)[name]
}

/** The number behind an answer: its own, its first value's, or that of the named option. */
function numberBehind(answer: JsonValue, options: readonly Option[]): number | undefined {
  if (typeof answer === 'number') return answer
  const first = field(answer, 'values')
  const said =
    typeof answer === 'string' ? answer.trim() : Array.isArray(first) ? String(first[0]).trim() : ''
  const option = options.find(({ label }) => label === said)
  const value = option === undefined ? numericValue(said) : (numbersIn(option.text)[0] ?? Number.NaN)
  return Number.isFinite(value) && Math.abs(value) < 1e15 ? value : undefined
}

const operators: readonly (readonly [string, (a: number, b: number) => number])[] = [
  ['+', (a, b) => a + b],
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  ['/', (a, b) => a / b],
]

/** An expression over the question's numbers that gives the value, with an extra number if needed. */
function expressionFor(value: number | undefined, question: string): string {
  const numbers = numbersIn(question)
  const [first = 1, second = 1] = numbers
  if (value === undefined) return `${plainNumber(first)} - ${plainNumber(second)}`
  for (const a of numbers)
    for (const b of numbers)
      for (const [sign, apply] of operators)
        if (apply(a, b) === value) return `${plainNumber(a)} ${sign} ${plainNumber(b)}`
  const rest = value - first
  return `${plainNumber(first)} ${rest < 0 ? '-' : '+'} ${plainNumber(Math.abs(rest))}`
}

/** Without an exponent, and without the noise of binary fractions. */
function plainNumber(value: number): string {
  return Number.isInteger(value) ? value.toFixed(0) : value.toFixed(6).replace(/0+$/, '')
}

/** The row named in the question, or else the top of the first table. */
function tableQuery(question: string, { tables = [] }: Task): JsonObject {
  const [table] = tables
  if (table === undefined) return { operation: 'list' }
  const words = question.toLowerCase()
  const row = table.rows.findIndex(([first = '']) => {
    const name = first.trim().toLowerCase()
    return name.length > 2 && words.includes(name)
  })
  return row === -1
    ? { operation: 'slice', table: 0, from: 0, to: 8 }
    : { operation: 'lookup', table: 0, row }
}
