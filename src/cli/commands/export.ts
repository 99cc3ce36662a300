import type { Command } from 'commander'
import { exportRun } from '../../store/exported-run.ts'
import { NotedCommand } from '../help-notes.ts'
import { exportableSource } from '../job.ts'
import { existingRun } from '../open-run.ts'
import { checkpointOption, jsonOption, runsDirOption } from '../options/common-options.ts'
import { printResult } from '../print.ts'

interface ExportCommandOptions {
  readonly to?: string
  readonly update?: number
  readonly runsDir?: string
  readonly json: boolean
}

export function exportCommand(): Command {
  return new NotedCommand('export')
    .description('Write what is needed to use a policy, without the rest of the run, to a folder or a .tgz.')
    .argument('<run>', 'name or folder of a run')
    .option('--to <path>', 'a new folder, or a .tgz file (default: RUN.tgz)')
    .addOption(checkpointOption())
    .addOption(runsDirOption())
    .addOption(jsonOption())
    .notes({
      examples: [
        ['magic export first', 'writes first.tgz'],
        ['magic export first --to app/policy', 'writes a folder'],
        ['magic ask first.tgz "What is 6 times 7?"', 'use the export like a run'],
        ['magic serve first.tgz', 'serve it as an API'],
      ],
      notes: [
        'An export holds the weights, the roles with their prompts, the form of the answers, the settings, and the names of the model and of its key variable. It does not hold questions, answers, calls or the ledger, nor the code of your own tools: give those with --config or `solve({ tools })`. You cannot continue training from an export.',
      ],
    })
    .action(async (name: string, options: ExportCommandOptions) => {
      const folder = existingRun(name, options.runsDir)
      const run = folder.readRecord()
      const exported = await exportRun(folder, {
        to: options.to ?? `${run.name}.tgz`,
        update: options.update,
        source: exportableSource(run),
      })
      const { path, files, update } = exported
      printResult(options, { run: run.name, ...exported }, (screen) => [
        screen.paint('bold', `${path}: the policy of ${run.name} after ${update} updates`),
        ...Object.entries(files).map(([file, bytes]) => `  ${file}  ${Math.ceil(bytes / 1024)} KiB`),
        'This is all that `magic ask`, `magic serve`, `loadPolicy` and `solve` need. Questions, calls and the ledger stay in the run.',
      ])
    })
}
