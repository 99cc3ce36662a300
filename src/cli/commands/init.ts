import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { commandLines, type DescribedCommand } from '../display/command-lines.ts'
import { shownText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'
import { NotedCommand } from '../help-notes.ts'
import { jsonOption } from '../options/common-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { shellWord } from '../views/training-summary.ts'

/** Files to write, with their names in `init-template/`: a small task, ready to train. */
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
  return new NotedCommand('init')
    .description('Create a small task to start from, ready to train: configuration, questions, README.')
    .argument('[folder]', 'where to create it', '.')
    .option('--force', 'allow a folder that is not empty; files with content are kept', false)
    .addOption(jsonOption('what was written as JSON'))
    .notes({
      examples: [['magic init my-task'], ['cd my-task && magic train']],
      notes: ['docs/tasks.md describes question files and the configuration.'],
    })
    .action((folder: string, options: InitOptions) => {
      const done = initialise(resolve(folder), options)
      const next = nextSteps(folder)
      const { written, kept } = done
      printResult(
        options,
        { ...done, next: next.map(([command, what]) => ({ command, what })) },
        (screen) => [
          `Wrote ${counted(written.length, 'file')} to ${shownText(done.folder)}${written.length === 0 ? '.' : `: ${written.join(', ')}.`}`,
          kept.length > 0 && `Kept as they were: ${kept.join(', ')}.`,
          '',
          'Next:',
          commandLines(next, screen),
          '',
          'Then put your own questions into questions.jsonl; README.md there explains how.',
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
          'Choose another, or add --force to keep its files and add the missing ones.',
      )
    const { written = [], kept = [] } = Object.groupBy(Object.entries(templates), ([name, template]) =>
      writeNew(join(folder, name), template) ? 'written' : 'kept',
    )
    return { folder, written: written.map(([name]) => name), kept: kept.map(([name]) => name) }
  } catch (error) {
    const { code, path = folder } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UsageError(`Cannot write to ${path} (${code}). Choose a folder you can write to.`, {
      cause: error,
    })
  }
}

/** Writes a file unless it has content or is not a regular file; returns whether it did. */
function writeNew(path: string, template: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  if (status !== undefined && (!status.isFile() || status.size > 0)) return false
  const content = readFileSync(new URL(`init-template/${template}`, import.meta.url))
  try {
    writeFileSync(path, content, { flag: status === undefined ? 'wx' : 'w' })
    return true
  } catch (error) {
    // A dangling link, or a file created in the meantime.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function nextSteps(folder: string): DescribedCommand[] {
  return [
    ...(resolve(folder) === process.cwd() ? [] : [[`cd ${shellWord(folder)}`, ''] as const]),
    ['magic train', 'train on the simulated model; prints the run name'],
    ['magic eval <run> --split test', 'score it on held-out questions'],
    ['magic ask <run> "question"', 'ask it something'],
  ]
}
