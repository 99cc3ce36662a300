import { hash } from 'node:crypto'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Table, Task } from '../library/task.ts'
import { boundedFields, boundedString } from './length-budget.ts'

/** A text that many requests share. A trace stores it once and refers to it by its key. */
export interface Text {
  readonly key: string
  readonly text: string
}

/** Keyed by content, so that it has the same key in every trace. */
export function namedText(text: string): Text {
  // 64 bits are enough to tell the texts of a run apart.
  return { key: hash('sha256', text, 'hex').slice(0, 16), text }
}

const taskTexts = new WeakMap<Task, { budget: number; repeats: boolean; text: Text }>()
const requirementTexts = new WeakMap<AnswerContract, Text>()

/** The request part that shows the public task. Cached: every node of every graph gets the same text. */
export function taskText(task: Task, budget: number, repeats = false): Text {
  const known = taskTexts.get(task)
  if (known?.budget === budget && known.repeats === repeats) return known.text
  const text = namedText(`,"task":${boundedFields(taskView(task, repeats), budget)}`)
  taskTexts.set(task, { budget, repeats, text })
  return text
}

/** The request part that says what an answer must look like. */
export function requirementText(contract: AnswerContract): Text {
  const known = requirementTexts.get(contract)
  if (known !== undefined) return known
  const sentence = `${contract.requirement} Its form, for example: ${JSON.stringify(contract.example)}`
  const text = namedText(`,"answer_requirement":${boundedString(sentence, longestRequirement)}`)
  requirementTexts.set(contract, text)
  return text
}

const longestRequirement = 20_000

/**
 * What executors see of a task: neither its id nor its metadata. If the starter code is the question itself, as in
 * HumanEval, it is shown once, unless `repeats` is set.
 */
export function taskView(
  { question, options, context, tables, program, publicTests }: Task,
  repeats = false,
): JsonObject {
  const view: Record<string, JsonValue> = { question }
  if (options !== undefined) view['options'] = options.map(({ label, text }) => ({ label, text }))
  if (context !== undefined && context.length > 0) view['context'] = context
  if (tables !== undefined && tables.length > 0) view['tables'] = tables.map(tableText).join('\n\n')
  if (program !== undefined) {
    const isShown = program.starterCode !== '' && (repeats || program.starterCode !== question)
    view['program'] = {
      mode: program.mode,
      ...(program.mode === 'function' ? { entry_point: program.entryPoint } : {}),
      ...(isShown ? { starter_code: program.starterCode } : {}),
    }
  }
  if (publicTests !== undefined && publicTests.length > 0)
    view['public_tests'] = publicTests.map(({ input, output }) => ({ input, output }))
  return view
}

/** One line per row. The table reader tool gives exact cells. */
function tableText({ name, caption, header, rows }: Table): string {
  const title = caption === undefined || caption === '' ? name : `${name}: ${caption}`
  const lines = header === undefined ? rows : [header, ...rows]
  return [oneLine(title), ...lines.map((cells) => cells.map(cellText).join(' | '))].join('\n')
}

/** Escaped so that one cell cannot look like two cells or two rows. */
function cellText(cell: string): string {
  return oneLine(cell).replaceAll('|', '\\|')
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\u0085\u2028\u2029]+/g, ' ')
}
