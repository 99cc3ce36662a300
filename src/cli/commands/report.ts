import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import { FollowedRun } from '../../view/followed-run.ts'
import { runTasks } from '../../view/run-tasks.ts'
import { NotedCommand } from '../help-notes.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { tasksToShow } from '../options/tasks-to-show.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { reportBlocks } from '../views/report.ts'
import { htmlReport } from '../views/report-html.ts'
import { markdownReport } from '../views/report-markdown.ts'

interface ReportOptions {
  readonly output: string
  readonly runsDir?: string
  readonly json: boolean
}

export function reportCommand(): Command {
  return new NotedCommand('report')
    .description('Write the tables and plots of runs as one HTML file and as Markdown.')
    .argument('<runs...>', 'names or folders of runs')
    .option('-o, --output <name>', 'writes NAME.html, NAME.md and NAME-plots/', 'report')
    .addOption(runsDirOption())
    .addOption(jsonOption('the names of the files as one JSON object'))
    .notes({
      examples: [
        ['magic report first', 'writes report.html, report.md and report-plots/'],
        ['magic report first second -o out/july', 'writes out/july.html and so on'],
      ],
      notes: [
        'The HTML file is self-contained and needs no network. Both show what `magic view` shows of a run: curves, roles, graphs before and after training, evaluations with intervals and paired differences.',
      ],
    })
    .action(report)
}

async function report(names: readonly string[], options: ReportOptions): Promise<void> {
  const runs = [...new Set(names)].map((name) => {
    const folder = existingRun(name, options.runsDir)
    const run = new FollowedRun(basename(folder.path), folder).refresh()
    if (run.problem !== undefined) throw new UsageError(`Cannot read ${run.name}. ${run.problem}`)
    return run
  })
  const blocks = await reportBlocks(runs, runTasks(tasksToShow))
  const base = options.output.replace(/\.(html|md)$/, '')
  const plots = `${base}-plots`
  const markdown = markdownReport(blocks, basename(plots))
  mkdirSync(dirname(base), { recursive: true })
  mkdirSync(plots, { recursive: true })
  writeFileSync(`${base}.html`, htmlReport(blocks))
  writeFileSync(`${base}.md`, markdown.text)
  for (const { name, svg } of markdown.plots) writeFileSync(join(plots, name), svg)
  const files = { html: `${base}.html`, markdown: `${base}.md`, plots }
  printResult(options, files, () => [
    `Wrote ${files.html}, ${files.markdown} and ${markdown.plots.length} plots in ${plots}.`,
  ])
}
