import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { shownText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'
import { jsonOption } from '../options/common-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { shellWord, stepLines } from '../views/training-summary.ts'

/** The files that are written, with their names in `init-template/`: a small task that trains as it stands. */
const templates = {
  'magic.config.ts': 'magic.config.ts.txt',
  'questions.jsonl': 'questions.jsonl',
  'README.md': 'README.md',
  '.env.example': 'env.example.txt',
  '.gitignore': 'gitignore.txt',
}

interface InitOptions {
  readonly force: boolean
  readonly json: boolean
}

export function initCommand(): Command {
  return new Command('init')
    .description('Write a small task of your own that trains as it stands: configuration, questions, README.')
    .argument('[folder]', 'where to write it; created if it does not exist', '.')
    .option('--force', 'write into a folder that is not empty; files with content are kept', false)
    .addOption(jsonOption('what was written as JSON'))
    .addHelpText(
      'after',
      `
Examples:
  magic init my-task
  cd my-task && magic train

docs/tasks.md describes question files and configuration.`,
    )
    .action((folder: string, options: InitOptions) => {
      const done = initialise(resolve(folder), options)
      const next = nextSteps(folder)
      const { written, kept } = done
      printResult(
        options,
        () => ({ ...done, next: next.map(([command, what]) => ({ command, what })) }),
        () => [
          `Wrote ${counted(written.length, 'file')} to ${shownText(done.folder)}${written.length === 0 ? '.' : `: ${written.join(', ')}.`}`,
          kept.length > 0 && `Left as they were: ${kept.join(', ')}.`,
          '',
          'Next:',
          stepLines(next),
          '',
          'Put your own questions into questions.jsonl; README.md there tells how.',
        ],
      )
    })
}

function initialise(folder: string, { force }: InitOptions) {
  try {
    mkdirSync(folder, { recursive: true })
    // A folder with nothing but a fresh Git repository counts as empty.
    const others = readdirSync(folder).filter((name) => name !== '.git')
    if (others.length > 0 && !force)
      throw new UsageError(
        `The folder ${folder} is not empty (${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}). ` +
          'Name another, or add --force: files with content are kept.',
      )
    const { written = [], kept = [] } = Object.groupBy(Object.entries(templates), ([name, template]) =>
      writeNew(join(folder, name), template) ? 'written' : 'kept',
    )
    return { folder, written: written.map(([name]) => name), kept: kept.map(([name]) => name) }
  } catch (error) {
    const { code, path = folder } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UsageError(`Cannot write to ${path} (${code}). Name a folder of yours.`, { cause: error })
  }
}

/** Whether the file was written: one that has content, or is no regular file, is left alone. */
function writeNew(path: string, template: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  if (status !== undefined && (!status.isFile() || status.size > 0)) return false
  const content = readFileSync(new URL(`init-template/${template}`, import.meta.url))
  try {
    writeFileSync(path, content, { flag: status === undefined ? 'wx' : 'w' })
    return true
  } catch (error) {
    // A dangling link, or a file that was created meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function nextSteps(folder: string): [command: string, what: string][] {
  return [
    ...(resolve(folder) === process.cwd() ? [] : [[`cd ${shellWord(folder)}`, ''] as [string, string]]),
    ['magic train', 'learns on the simulated model, without a key; prints the name of the run'],
    ['magic eval <run> --split test', 'scores it on the held-out questions'],
    ['magic ask <run> "question"', 'asks what was learned'],
  ]
}
