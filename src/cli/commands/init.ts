import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { counted, jsonText, printable } from '../display/terminal-text.ts'
import { jsonOption } from '../options/common-options.ts'
import { UsageError } from '../problem.ts'
import { initFiles } from './init-files.ts'

interface InitOptions {
  readonly force: boolean
  readonly json: boolean
}

interface Initialised {
  readonly folder: string
  readonly written: readonly string[]
  /** Were there already, and are as they were. */
  readonly kept: readonly string[]
}

export function initCommand(): Command {
  return new Command('init')
    .description('Write a small task of your own that trains as it stands: configuration, questions, README.')
    .argument('[folder]', 'where to; it is made if it is not there', '.')
    .option(
      '--force',
      'write into a folder that is not empty; files that have content stay as they are',
      false,
    )
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
      const done = initialise(folder, options)
      const next = nextSteps(folder)
      process.stdout.write(options.json ? `${jsonText({ ...done, next })}\n` : shown(done, next))
    })
}

function initialise(given: string, { force }: InitOptions): Initialised {
  const folder = resolve(given)
  try {
    mkdirSync(folder, { recursive: true })
    // A folder that git has just made, or that a clone came with, is as good as empty.
    const others = readdirSync(folder).filter((name) => name !== '.git')
    if (others.length > 0 && !force)
      throw new UsageError(
        `The folder ${folder} is not empty (${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}). ` +
          'Name another, or add --force: files that have content stay as they are.',
      )
    const names = Object.entries(initFiles).map(([name, content]) => ({
      name,
      isNew: writeNew(join(folder, name), content),
    }))
    return {
      folder,
      written: names.filter(({ isNew }) => isNew).map(({ name }) => name),
      kept: names.filter(({ isNew }) => !isNew).map(({ name }) => name),
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code, path = folder } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UsageError(`Cannot write to ${path} (${code}). Name a folder of yours.`, { cause: error })
  }
}

/** Whether the file was written: one that has content, or is no plain file, is left alone. */
function writeNew(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined || !status.isFile() || status.size > 0) return false
  writeFileSync(path, content)
  return true
}

interface Step {
  readonly command: string
  readonly what: string
}

function nextSteps(folder: string): Step[] {
  const quoted = /^[\w./~-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`
  return [
    ...(resolve(folder) === process.cwd() ? [] : [{ command: `cd ${quoted}`, what: '' }]),
    {
      command: 'magic train',
      what: 'learns on the simulated model, without a key; names its run at the end',
    },
    { command: 'magic eval <run> --split test', what: 'proves it on the questions held out' },
    { command: 'magic ask <run> "question"', what: 'asks what was learned' },
  ]
}

function shown({ folder, written, kept }: Initialised, steps: readonly Step[]): string {
  const width = Math.max(...steps.map(({ command }) => command.length))
  return printable(
    [
      `Wrote ${counted(written.length, 'file')} to ${folder}${written.length === 0 ? '.' : `: ${written.join(', ')}.`}`,
      ...(kept.length === 0 ? [] : [`Left as they were: ${kept.join(', ')}.`]),
      '',
      'Next:',
      ...steps.map(({ command, what }) => `  ${command.padEnd(width)}  ${what}`.trimEnd()),
      '',
      'Put your own questions into questions.jsonl; README.md there tells how.',
      '',
    ].join('\n'),
  )
}
