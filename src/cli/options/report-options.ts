import { type Command, Option } from 'commander'
import { type Display, displays } from '../display/choose-display.ts'
import { Progress } from '../display/progress.ts'
import { jsonOption } from './common-options.ts'

/** How a longer command shows its progress and result. */
export interface ReportOptions {
  readonly display?: Display
  readonly json: boolean
}

export function addReportOptions<Given extends Command>(command: Given): Given {
  return command
    .addOption(
      new Option(
        '--display <face>',
        'how to show progress on standard error; by default live on a terminal, plain elsewhere',
      ).choices(displays),
    )
    .addOption(jsonOption('the result as one JSON object'))
}

export function openProgress({ display }: ReportOptions): Progress {
  return new Progress({ display })
}
