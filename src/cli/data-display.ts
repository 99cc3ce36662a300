import { basename } from 'node:path'
import { styleText } from 'node:util'
import { taskView } from '../execution/task-text.ts'
import { visibleText } from '../graph/render/picture.ts'
import type { JsonValue } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'
import type { CatalogueEntry } from '../tasks/data/catalogue.ts'
import type { ImportedSplit } from '../tasks/data/import-files.ts'
import type { PullProgress } from '../tasks/data/pull.ts'

export function describeList(entries: readonly CatalogueEntry[], root: string): string {
  const lines = entries.flatMap(({ name, title, licence, metric, splits, companions }) => [
    `${styleText('bold', name)}  ${title}, ${metric}, ${licence}`,
    ...splits.map(
      ({ split, examples, imported }) =>
        `  ${imported ? styleText('green', '✓') : '·'} ${split.padEnd(16)} ${count(examples).padStart(7)} examples`,
    ),
    // One that is not here is not missed: only `show` tells of it.
    ...companions
      .filter(({ imported }) => imported)
      .map(({ path, holds }) => `  ${styleText('green', '✓')} ${basename(path).padEnd(16)} ${holds}`),
  ])
  return [
    ...lines,
    '',
    `✓ is in ${root}. The others: magic data pull NAME, or magic data import NAME PATH.`,
    '',
  ].join('\n')
}

export function describeEntry(entry: CatalogueEntry, contract: string): string {
  const { name, title, source, revision, licence, metric, splits, companions } = entry
  return [
    styleText('bold', `${title} (${name})`),
    `source    ${source} at ${revision}`,
    `licence   ${licence}`,
    `metric    ${metric}`,
    `answer    ${contract}`,
    ...splits.map(
      ({ split, examples, imported }) =>
        `split     ${split}: ${count(examples)} examples, ${imported ? 'imported' : 'not here'}`,
    ),
    ...companions.map(
      ({ path, holds, imported }) =>
        `beside    ${basename(path)}: ${holds}, ${imported ? 'imported' : 'not here'}`,
    ),
    ...(splits.some(({ imported }) => imported)
      ? []
      : [`Nothing of it is here yet: magic data pull ${name}, or magic data import ${name} PATH.`]),
    '',
  ].join('\n')
}

/** What a model sees of the task, shortened. */
export function describeTask(task: Task, split: string): string {
  const fields = Object.entries(taskView(task)).map(([name, value]) => `${name}\n${indented(textOf(value!))}`)
  return [styleText('bold', `${split} ${visibleText(task.id)}`), ...fields, ''].join('\n')
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return JSON.stringify(value, null, 2)
  return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join('\n')
}

const longestField = 1500

function indented(text: string): string {
  const points = [...text]
  const rest = points.length - longestField
  const shown =
    rest > 0 ? `${points.slice(0, longestField).join('')} … (${count(rest)} more characters)` : text
  return shown
    .split('\n')
    .map((line) => (line.trim() === '' ? '' : `  ${visibleText(line)}`))
    .join('\n')
}

export function describeImported(name: string, splits: readonly ImportedSplit[], root: string): string {
  return splits
    .map(({ split, examples, withTask, files }) => {
      const lacking = withTask < examples ? `, ${count(withTask)} of them with their tables` : ''
      const lines = files.map(
        ({ path, bytes, sha256 }) => `    ${path}  ${count(bytes)} bytes  SHA-256 ${sha256}\n`,
      )
      return `${name} ${split}: ${count(examples)} examples${lacking}, in ${root}\n${lines.join('')}`
    })
    .join('')
}

/** Live on a terminal; a line per file elsewhere. */
export class PullDisplay {
  readonly #stream: NodeJS.WriteStream
  #file = ''
  #painted = 0

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  show({ file, received, total }: PullProgress): void {
    const done = received === total
    if (!this.#stream.isTTY) {
      if (file !== this.#file)
        this.#stream.write(`fetching ${file}${total === undefined ? '' : ` (${size(total)})`}\n`)
      this.#file = file
      return
    }
    const now = performance.now()
    if (!done && file === this.#file && now - this.#painted < 100) return
    if (file !== this.#file && this.#file !== '') this.#stream.write('\n')
    this.#file = file
    this.#painted = now
    const share =
      total === undefined || total === 0
        ? ''
        : ` of ${size(total)}, ${Math.floor((100 * received) / total)} %`
    this.#stream.write(`\r\u001b[K${file}  ${size(received)}${share}`)
  }

  end(): void {
    if (this.#stream.isTTY && this.#file !== '') this.#stream.write('\n')
  }
}

function count(value: number): string {
  return value.toLocaleString('en-GB')
}

function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
