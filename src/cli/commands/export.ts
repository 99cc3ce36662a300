import { Command } from 'commander'
import { exportRun } from '../../store/exported-run.ts'
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
  return new Command('export')
    .description('Write the small part of a run that is needed to use its policy: to a folder or a .tgz.')
    .argument('<run>', 'name or folder of the run')
    .option('--to <path>', 'a new folder, or a file that ends in .tgz (default: RUN.tgz)')
    .addOption(checkpointOption())
    .addOption(runsDirOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  magic export first                        first.tgz
  magic export first --to app/policy        a folder
  magic ask first.tgz "What is 6 times 7?"  the export in place of the run
  magic serve first.tgz                     the same for an API

It holds the weights, the roles with their prompts, the form of the answers and the settings, with the name of the model
and of the variable with its key. It does not hold questions, answers, calls, the ledger or the code of tools of your own:
those come from --config, or from \`solve({ tools })\`. Training cannot continue from it.`,
    )
    .action(async (name: string, options: ExportCommandOptions) => {
      const folder = existingRun(name, options.runsDir)
      const run = folder.readRecord()
      const exported = await exportRun(folder, {
        to: options.to ?? `${run.name}.tgz`,
        update: options.update,
        source: exportableSource(run),
      })
      const { path, files, update } = exported
      printResult(
        options,
        () => ({ run: run.name, ...exported }),
        (screen) => [
          screen.paint('bold', `${path}: the policy of ${run.name} after ${update} updates`),
          ...Object.entries(files).map(([file, bytes]) => `  ${file}  ${Math.ceil(bytes / 1024)} KiB`),
          'Enough for `magic ask`, `magic serve`, `loadPolicy` and `solve`. Questions, calls and the ledger stay with the run.',
        ],
      )
    })
}
