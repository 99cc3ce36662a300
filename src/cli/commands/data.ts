import { basename } from 'node:path'
import { Argument, type Command } from 'commander'
import { taskView } from '../../execution/text.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { loadSplit } from '../../tasks/benchmarks/benchmark.ts'
import { type BenchmarkName, benchmarkNames, benchmarks } from '../../tasks/benchmarks/list.ts'
import { type CatalogueEntry, describeBenchmark } from '../../tasks/data/catalogue.ts'
import { recogniseFiles } from '../../tasks/data/given-files.ts'
import { type ImportedSplit, importFiles } from '../../tasks/data/import-files.ts'
import { type DownloadProgress, pullBenchmark } from '../../tasks/data/pull.ts'
import { defaultDataFolder } from '../../tasks/sources/data-folder.ts'
import { Progress } from '../display/progress.ts'
import { factLines, type Lines, type Screen, shownText, wrapText } from '../display/screen.ts'
import { NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { jsonOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { printResult } from '../print.ts'

interface CommonOptions {
  readonly dataDir?: string
  readonly json: boolean
}

export function dataCommand(): Command {
  return (
    new NotedCommand('data')
      .description('Download, import and show benchmark data.')
      // Subcommands inherit the program's settings for errors and help.
      .hook('preSubcommand', (data, inner) => void inner.copyInheritedSettings(data))
      .addCommand(listCommand())
      .addCommand(showCommand())
      .addCommand(importCommand())
      .addCommand(pullCommand())
      .notes({
        examples: [
          ['magic data list'],
          ['magic data pull gsm8k'],
          ['magic data import mmlu_pro ~/Downloads/test-00000-of-00001.parquet'],
          ['magic data show tatqa --split dev --limit 1'],
        ],
        notes: [
          'Data is stored in $MAGIC_DATA_DIR, by default $XDG_DATA_HOME/magic/data (~/.local/share/magic/data).',
        ],
      })
  )
}

function inner(name: string, description: string): NotedCommand {
  return new NotedCommand(name)
    .description(description)
    .option('--data-dir <folder>', 'the data folder (default: $MAGIC_DATA_DIR)')
    .addOption(jsonOption('the result as JSON'))
}

function nameArgument(): Argument {
  return new Argument('<name>', 'the benchmark').choices(benchmarkNames)
}

function folderOf({ dataDir }: CommonOptions): string {
  return dataDir ?? defaultDataFolder()
}

function listCommand(): Command {
  return inner('list', 'List benchmarks with splits, sizes, licences, and what you have.').action(
    (options: CommonOptions) => {
      const root = folderOf(options)
      const entries = Object.values(benchmarks).map((one) => describeBenchmark(root, one))
      printResult(options, entries, (screen) => [
        entries.map((entry) => entryLines(entry, screen)),
        '',
        shownText(`✓ is in ${root}. ${remedy('NAME')}`),
      ])
    },
  )
}

function entryLines(entry: CatalogueEntry, screen: Screen): Lines {
  const { name, title, licence, metric, splits, companions } = entry
  const here = screen.paint('green', '✓')
  return [
    `${screen.paint('bold', name)}  ${wrapText(`${title}, ${metric}, ${licence}`, screen, '  ')}`,
    splits.map(({ split, examples, imported }) => {
      return `  ${imported ? here : '·'} ${split.padEnd(16)} ${count(examples).padStart(7)} examples`
    }),
    // Optional, so the list shows only companions that are here; `show` names the others.
    companions.map(
      ({ path, holds, imported }) => imported && `  ${here} ${basename(path).padEnd(16)} ${holds}`,
    ),
  ]
}

function remedy(name: string): string {
  return `To get the others: \`magic data pull ${name}\` or \`magic data import ${name} PATH\`.`
}

function showCommand(): Command {
  return inner('show', 'Describe a benchmark and show some questions without answers.')
    .addArgument(nameArgument())
    .option('--split <name>', 'show examples of this split')
    .option('--limit <n>', 'number of examples', wholeNumber(0), 3)
    .action(async (name: BenchmarkName, options: CommonOptions & { split?: string; limit: number }) => {
      const root = folderOf(options)
      const entry = describeBenchmark(root, benchmarks[name])
      const contract = benchmarks[name].contract.requirement
      // By default the test split if it is here, otherwise the first split that is.
      const here = entry.splits.filter(({ imported }) => imported).map((one) => one.split)
      const split = options.split ?? here.find((one) => one === 'test') ?? here[0]
      // Only the public part is read; the map of references is not touched.
      const loaded = split && options.limit > 0 ? await loadSplit(root, benchmarks[name], split) : undefined
      const tasks = [...(loaded?.tasks.values() ?? [])].slice(0, options.limit)
      printResult(options, { ...entry, contract, split: split ?? null, examples: tasks }, (screen) => [
        screen.paint('bold', `${entry.title} (${name})`),
        factLines(factsOf(entry, contract), screen),
        here.length < entry.splits.length && remedy(name),
        tasks.map((task) => ['', taskLines(task, split!, screen)]),
      ])
    })
}

function factsOf(entry: CatalogueEntry, contract: string): [name: string, text: string][] {
  const { source, revision, licence, metric, splits, companions } = entry
  const state = (imported: boolean) => (imported ? 'imported' : 'missing')
  return [
    ['source', `${source} at ${revision}`],
    ['licence', licence],
    ['metric', metric],
    ['answer', contract],
    ...splits.map(({ split, examples, imported }): [string, string] => {
      return ['split', `${split}: ${count(examples)} examples, ${state(imported)}`]
    }),
    ...companions.map(({ path, holds, imported }): [string, string] => {
      return ['extra', `${basename(path)}: ${holds}, ${state(imported)}`]
    }),
  ]
}

const longestField = 1500

/** The task as a model sees it, shortened. */
function taskLines(task: Task, split: string, screen: Screen): Lines {
  const fields = Object.entries(taskView(task)).map(([name, value]) => {
    const text = textOf(value!)
    const rest = text.length - longestField
    const cut = rest > 0 ? `${text.slice(0, longestField)} … (${count(rest)} more characters)` : text
    return [name, cut.split('\n').map((line) => `  ${wrapText(shownText(line), screen, '  ')}`.trimEnd())]
  })
  return [screen.paint('bold', shownText(`${split} ${task.id}`)), fields]
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return JSON.stringify(value, null, 2)
  return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join('\n')
}

function importCommand(): Command {
  const formats = 'JSON Lines, JSON, gzip or Parquet'
  return inner('import', `Import official files you already have: ${formats}, as files or folders.`)
    .addArgument(nameArgument())
    .argument('<path...>', 'files, or folders laid out like the official source')
    .option('--split <name>', 'the split of the file, if its name does not tell')
    .addHelpText('after', '\nEvery row is checked before anything is stored.')
    .action(async (name: BenchmarkName, paths: string[], options: CommonOptions & { split?: string }) => {
      const given = recogniseFiles(benchmarks[name], paths, options.split)
      const splits = await importFiles(folderOf(options), benchmarks[name], given)
      printImported(options, { name, splits })
    })
}

function pullCommand(): Command {
  return inner('pull', 'Download the official files at a pinned revision, check and import them.')
    .addArgument(nameArgument())
    .option('--split <name...>', 'only these splits')
    .option('--mirror <url>', 'download from a server with the same paths as the official one')
    .notes({
      examples: [['magic data pull gsm8k'], ['magic data pull tatqa --split dev']],
      notes: [
        'Repeat the command to continue an interrupted download.',
        "HF_ENDPOINT names another hub, HF_TOKEN its token. Files in the hub's cache are not downloaded again.",
      ],
    })
    .action(async (name: BenchmarkName, options: CommonOptions & { split?: string[]; mirror?: string }) => {
      const root = folderOf(options)
      const { title, source, revision, licence } = describeBenchmark(root, benchmarks[name])
      const progress = new Progress()
      progress.note(`${title}, ${source} at ${revision.slice(0, 12)}. Licence: ${licence}`)
      const pulled = await pullBenchmark(root, benchmarks[name], {
        signal: interruptSignal((text) => progress.note(`${text} Repeat the command to continue.`)),
        splits: options.split,
        mirror: options.mirror,
        onProgress: pullListener(progress),
      }).finally(() => progress.end())
      printImported(options, { name, licence, ...pulled })
    })
}

/** One progress bar per file whose size is known. */
function pullListener(progress: Progress): (file: string, news: DownloadProgress) => void {
  let fetching: string | undefined
  const kibibytes = (bytes: number) => Math.ceil(bytes / 1024)
  return (file, { received, total }) => {
    if (file !== fetching) {
      progress.end()
      if (total === undefined) progress.note(`downloading ${file}`)
      else progress.start(kibibytes(total), `downloading ${file}, KiB`, kibibytes(received))
    }
    fetching = file
    progress.update({ done: kibibytes(received) })
  }
}

function printImported(
  options: CommonOptions,
  imported: { readonly name: string; readonly licence?: string; readonly splits: readonly ImportedSplit[] },
): void {
  printResult(options, imported, () =>
    imported.splits.map(({ split, examples, withTask, files }) => {
      const lacking = withTask < examples ? `, ${count(withTask)} of them with tables` : ''
      return [
        `${imported.name} ${split}: ${count(examples)} examples${lacking}, in ${folderOf(options)}`,
        files.map(({ path, bytes, sha256 }) => `    ${path}  ${count(bytes)} bytes  SHA-256 ${sha256}`),
      ]
    }),
  )
}

function count(value: number): string {
  return value.toLocaleString('en-GB')
}
