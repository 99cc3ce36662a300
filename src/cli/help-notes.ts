import { Command, Help, type Option } from 'commander'
import { commandLines, type DescribedCommand } from './display/command-lines.ts'
import { screenOf, wrapText } from './display/screen.ts'

interface HelpNotes {
  /** Values that an option takes, with what each means. */
  readonly values?: readonly [title: string, values: readonly DescribedCommand[]]
  readonly examples: readonly DescribedCommand[]
  /** One paragraph each. */
  readonly notes?: readonly string[]
}

/** A command whose `--help` ends with examples and notes. */
export class NotedCommand extends Command {
  notes(notes: HelpNotes): this {
    return this.addHelpText('after', () => noteText(notes))
  }
}

/** Commander wraps only what it writes itself. */
function noteText({ values, examples, notes = [] }: HelpNotes): string {
  const screen = screenOf(process.stdout)
  // Commander assumes 80 columns for a pipe, too.
  const columns = Number.isFinite(screen.columns) ? Math.min(screen.columns, 100) : 80
  const paragraphs = notes.flatMap((note) => ['', wrapText(note, { columns })])
  const listed = values && [values[0], commandLines(values[1], { columns }), '']
  return `\n${screen.text([listed, 'Examples:', commandLines(examples, { columns }), ...paragraphs])}`.trimEnd()
}

/** Commander's own also shows `(default: false)` for every switch, and quotes choices. */
export function describeOption({ description, argChoices, defaultValue, envVar }: Option): string {
  const remarks = [
    argChoices?.join(', '),
    defaultValue !== undefined &&
      defaultValue !== false &&
      defaultValue.length !== 0 &&
      `default: ${defaultValue}`,
    envVar && `or $${envVar}`,
  ].filter(Boolean)
  return remarks.length === 0 ? description : `${description} (${remarks.join('; ')})`
}

/** Puts descriptions below their terms on a narrow terminal, where Commander would not wrap them at all. */
export function formatHelpItem(term: string, termWidth: number, description: string, helper: Help): string {
  const columns = helper.helpWidth ?? 80
  if (columns - termWidth >= 40 || description === '')
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper)
  return `  ${term}\n      ${wrapText(description, { columns }, '      ')}`
}

/** For commands that exit with more than 0, 1 and 2. */
export const exitCodeNote =
  'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 cap reached, 4 below --threshold, 5 model refused, 6 disk problem, 7 model or sandbox unavailable, 130 interrupted. `magic --help` explains them.'

/** For `magic --help`. */
export const exitCodeTable = `
Exit codes:
  0    done
  1    failed, or no valid answer
  2    wrong usage, configuration or input
  3    stopped at a cap (resumable)
  4    score below --threshold
  5    the model refused: key, money or permission
  6    disk full, read-only or broken (resumable)
  7    model unreachable, or sandbox failing (resumable)
  130  interrupted (resumable)`
