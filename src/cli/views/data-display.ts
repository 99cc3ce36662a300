import { basename } from 'node:path'

import { taskView } from '../../execution/text.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import type { CatalogueEntry } from '../../tasks/data/catalogue.ts'
import type { ImportedSplit } from '../../tasks/data/import-files.ts'
import type { PullProgress } from '../../tasks/data/pull.ts'
import { chooseDisplay } from '../display/choose-display.ts'
import { LiveArea } from '../display/live-area.ts'
import { drawn, factLines, type Screen, screenOf, shownText, wrapText } from '../display/screen.ts'

export function describeList(entries: readonly CatalogueEntry[], root: string, screen: Screen): string {
  const here = screen.paint('green', '✓')
  const lines = entries.flatMap(({ name, title, licence, metric, splits, companions }) => [
    `${screen.paint('bold', name)}  ${wrapText(`${title}, ${metric}, ${licence}`, screen, '  ')}`,
    ...splits.map(
      ({ split, examples, imported }) =>
        `  ${imported ? here : drawn('·', screen)} ${split.padEnd(16)} ${count(examples).padStart(7)} examples`,
    ),
    // Only `show` tells of one that is not here: nobody needs to fetch it.
    ...companions
      .filter(({ imported }) => imported)
      .map(({ path, holds }) => `  ${here} ${basename(path).padEnd(16)} ${holds}`),
  ])
  const legend = `✓ is in ${root}. The others: magic data pull NAME, or magic data import NAME PATH.`
  return [...lines, '', wrapText(shownText(legend, screen), screen), ''].join('\n')
}

export function describeEntry(entry: CatalogueEntry, contract: string, screen: Screen): string {
  const { name, title, source, revision, licence, metric, splits, companions } = entry
  const state = (imported: boolean) => (imported ? 'imported' : 'not here')
  const facts: (readonly [name: string, text: string])[] = [
    ['source', `${source} at ${revision}`],
    ['licence', licence],
    ['metric', metric],
    ['answer', contract],
    ...splits.map(
      ({ split, examples, imported }) =>
        ['split', `${split}: ${count(examples)} examples, ${state(imported)}`] as const,
    ),
    ...companions.map(
      ({ path, holds, imported }) => ['beside', `${basename(path)}: ${holds}, ${state(imported)}`] as const,
    ),
  ]
  const remedy = `Nothing of it is here yet: magic data pull ${name}, or magic data import ${name} PATH.`
  return [
    screen.paint('bold', `${title} (${name})`),
    ...factLines(facts, screen),
    ...(splits.some(({ imported }) => imported) ? [] : [wrapText(remedy, screen)]),
    '',
  ].join('\n')
}

/** What a model sees of the task, shortened. */
export function describeTask(task: Task, split: string, screen: Screen): string {
  const fields = Object.entries(taskView(task)).map(
    ([name, value]) => `${name}\n${indented(textOf(value!), screen)}`,
  )
  return [screen.paint('bold', shownText(`${split} ${task.id}`, screen)), ...fields, ''].join('\n')
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return JSON.stringify(value, null, 2)
  return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join('\n')
}

const longestField = 1500

function indented(text: string, screen: Screen): string {
  const points = [...text]
  const rest = points.length - longestField
  const shown =
    rest > 0 ? `${points.slice(0, longestField).join('')} … (${count(rest)} more characters)` : text
  return shown
    .split('\n')
    .map((line) => `  ${wrapText(shownText(line, screen), screen, '  ')}`.trimEnd())
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
  #now: PullProgress | undefined
  #area: LiveArea | undefined

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  show(progress: PullProgress): void {
    const before = this.#now
    this.#now = progress
    if (chooseDisplay(undefined, this.#stream) !== 'live') {
      const { file, total } = progress
      const known = total === undefined ? '' : ` (${size(total)})`
      if (file !== before?.file)
        this.#stream.write(`fetching ${shownText(file, screenOf(this.#stream))}${known}\n`)
      return
    }
    this.#area ??= new LiveArea(this.#stream, (screen) => [this.#line(this.#now!, screen)])
    if (before !== undefined && progress.file !== before.file) this.#area.above(`${this.#line(before)}\n`)
    else this.#area.update()
  }

  end(): void {
    this.#area?.end(`${this.#line(this.#now!)}\n`)
    this.#area = undefined
  }

  #line({ file, received, total }: PullProgress, screen: Screen = screenOf(this.#stream)): string {
    const share = total ? ` of ${size(total)}, ${Math.floor((100 * received) / total)} %` : ''
    return `${shownText(file, screen)}  ${size(received)}${share}`
  }
}

function count(value: number): string {
  return value.toLocaleString('en-GB')
}

function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
