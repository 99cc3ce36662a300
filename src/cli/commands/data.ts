import { Argument, Command } from 'commander'
import { exitCode, Problem } from '../../problem.ts'
import { DownloadError } from '../../store/download.ts'
import { loadSplit } from '../../tasks/benchmarks/benchmark.ts'
import { type BenchmarkName, benchmarkNames, benchmarks } from '../../tasks/benchmarks/list.ts'
import { type CatalogueEntry, describeBenchmark } from '../../tasks/data/catalogue.ts'
import { recogniseFiles } from '../../tasks/data/given-files.ts'
import { type ImportedSplit, importFiles } from '../../tasks/data/import-files.ts'
import { pullBenchmark } from '../../tasks/data/pull.ts'
import { defaultDataFolder } from '../../tasks/sources/data-folder.ts'
import { interruptSignal } from '../interrupt.ts'
import { jsonOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { printResult } from '../print.ts'
import {
  describeEntry,
  describeImported,
  describeList,
  describeTask,
  PullDisplay,
} from '../views/data-display.ts'

interface CommonOptions {
  readonly dataDir?: string
  readonly json: boolean
}

/** `magic data`: the benchmarks' files, from where they are published or from where the user has them. */
export function dataCommand(): Command {
  return (
    new Command('data')
      .description("Get and look at the benchmarks' data.")
      // What the program says about errors and help holds for the inner commands too.
      .hook('preSubcommand', (data, inner) => void inner.copyInheritedSettings(data))
      .addCommand(listCommand())
      .addCommand(showCommand())
      .addCommand(importCommand())
      .addCommand(pullCommand())
      .addHelpText(
        'after',
        `
Examples:
  magic data list
  magic data pull gsm8k
  magic data import mmlu_pro ~/Downloads/test-00000-of-00001.parquet
  magic data show tatqa --split dev --limit 1

Files are kept in $MAGIC_DATA_DIR, else in $XDG_DATA_HOME/magic/data (~/.local/share/magic/data).`,
      )
  )
}

function listCommand(): Command {
  return common(
    new Command('list').description('Benchmarks, splits, counts, licences, and what is here.'),
  ).action((options: CommonOptions) =>
    told(() => {
      const entries = Object.values(benchmarks).map((one) => describeBenchmark(folderOf(options), one))
      printResult(
        options,
        () => entries,
        (screen) => describeList(entries, folderOf(options), screen),
      )
    }),
  )
}

function showCommand(): Command {
  interface Options extends CommonOptions {
    readonly split?: string
    readonly limit: number
  }
  return common(new Command('show').description('Describe a benchmark and show examples, without answers.'))
    .addArgument(nameArgument())
    .option('--split <name>', 'the split to show examples of')
    .option('--limit <n>', 'how many examples', wholeNumber(0), 3)
    .action((name: BenchmarkName, options: Options) =>
      told(async () => {
        const root = folderOf(options)
        const entry = describeBenchmark(root, benchmarks[name])
        const split = options.split ?? shownSplit(entry)
        const tasks =
          split === undefined || options.limit === 0 ? [] : await firstTasks(root, name, split, options.limit)
        const contract = benchmarks[name].contract.requirement
        printResult(
          options,
          () => ({ ...entry, contract, split: split ?? null, examples: tasks }),
          (screen) =>
            [
              describeEntry(entry, contract, screen),
              ...tasks.map((task) => describeTask(task, split!, screen)),
            ].join('\n'),
        )
      }),
    )
}

/** What is read is the public part alone; the map of references is not touched. */
async function firstTasks(root: string, name: BenchmarkName, split: string, limit: number) {
  const { tasks } = await loadSplit(root, benchmarks[name], split)
  return [...tasks.values()].slice(0, limit)
}

/** Without a choice: the test split if it is here, else the first that is. */
function shownSplit({ splits }: CatalogueEntry): string | undefined {
  const here = splits.filter(({ imported }) => imported).map(({ split }) => split)
  return here.includes('test') ? 'test' : here[0]
}

function importCommand(): Command {
  interface Options extends CommonOptions {
    readonly split?: string
  }
  return common(
    new Command('import').description(
      'Take official files that you have: JSON Lines, JSON, gzip or Parquet, single or in a folder.',
    ),
  )
    .addArgument(nameArgument())
    .argument('<path...>', 'files, or folders in the layout of the official source')
    .option('--split <name>', 'which split the file is, where its name does not tell')
    .addHelpText('after', '\nEvery row is checked before anything is put in place.')
    .action((name: BenchmarkName, paths: string[], options: Options) =>
      told(async () => {
        const root = folderOf(options)
        const given = recogniseFiles(benchmarks[name], paths, options.split)
        const imported = await importFiles(root, benchmarks[name], given)
        printImported(options, { name, splits: imported })
      }),
    )
}

function pullCommand(): Command {
  interface Options extends CommonOptions {
    readonly split?: string[]
    readonly mirror?: string
  }
  return common(
    new Command('pull').description('Fetch the official files at a pinned revision, check and import them.'),
  )
    .addArgument(nameArgument())
    .option('--split <name...>', 'only these splits')
    .option('--mirror <url>', 'fetch from a server that has the same paths as the official ones')
    .addHelpText(
      'after',
      `
A download that was interrupted goes on where it stopped when the command is repeated.
HF_ENDPOINT names another hub, HF_TOKEN a token for it; files in the hub's cache are not fetched again.`,
    )
    .action((name: BenchmarkName, options: Options) => {
      const signal = interruptSignal((text) => process.stderr.write(`\n${text}\n`))
      return told(async () => {
        const root = folderOf(options)
        const { title, source, revision, licence } = describeBenchmark(root, benchmarks[name])
        process.stderr.write(`${title}, ${source} at ${revision.slice(0, 12)}. Licence: ${licence}\n`)
        const display = new PullDisplay(process.stderr)
        const pulled = await pullBenchmark(root, benchmarks[name], {
          signal,
          splits: options.split,
          mirror: options.mirror,
          onProgress: (progress) => display.show(progress),
        }).finally(() => display.end())
        printImported(options, { name, licence, ...pulled })
      }, signal)
    })
}

function common(command: Command): Command {
  return command
    .option('--data-dir <folder>', 'the data folder, instead of $MAGIC_DATA_DIR')
    .addOption(jsonOption('the result as JSON'))
}

function nameArgument(): Argument {
  return new Argument('<name>', 'the benchmark').choices(benchmarkNames)
}

function printImported(
  options: CommonOptions,
  imported: { readonly name: string; readonly licence?: string; readonly splits: readonly ImportedSplit[] },
): void {
  printResult(
    options,
    () => imported,
    () => describeImported(imported.name, imported.splits, folderOf(options)),
  )
}

function folderOf({ dataDir }: CommonOptions): string {
  return dataDir ?? defaultDataFolder()
}

/** Problems with what the person gave are usage errors; a source that cannot be reached is a failure without a trace. */
async function told(action: () => void | Promise<void>, signal?: AbortSignal): Promise<void> {
  try {
    await action()
  } catch (error) {
    if (error instanceof Problem) throw error
    const { code } = error as NodeJS.ErrnoException
    const isDisk = code === 'ENOSPC' || code === 'EACCES' || code === 'EROFS' || code === 'EDQUOT'
    if (signal?.aborted) {
      process.stderr.write('magic: interrupted; repeat the command to go on.\n')
      process.exitCode = exitCode.interrupted
    } else if (error instanceof DownloadError || isDisk) {
      process.stderr.write(`magic: ${(error as Error).message}\n`)
      process.exitCode = exitCode.failed
    } else throw error
  }
}
