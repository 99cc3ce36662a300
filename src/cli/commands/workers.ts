import { Command } from 'commander'
import { Database } from '../../store/postgres/database.ts'
import { type WorkOverview, workOverview } from '../../workers/overview.ts'
import type { Lines, Screen } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { helpNotes } from '../help-notes.ts'
import { jsonOption } from '../options/common-options.ts'
import { sharedAddress } from '../options/workers-option.ts'
import { printResult } from '../print.ts'

export function workersCommand(): Command {
  return new Command('workers')
    .description('Show the `magic worker` processes, their speed, and the queue.')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpNotes({
        examples: [
          ['magic workers', 'the workers on the PostgreSQL in MAGIC_LEDGER'],
          ['watch magic workers', 'keep watching'],
          ['magic workers --json', 'for scripts'],
        ],
      }),
    )
    .action(async (options: { readonly json: boolean }) => {
      const database = await Database.open(sharedAddress())
      try {
        const overview = await workOverview(database)
        printResult(
          options,
          () => overview,
          (screen) => overviewLines(overview, screen),
        )
      } finally {
        await database.close()
      }
    })
}

function overviewLines({ workers, queue, refusals }: WorkOverview, screen: Screen): Lines {
  const rows = workers.map(({ name, state, running, done, rate, calls, seconds }) => [
    ...[name, state, String(running), String(done), rate.toFixed(2), String(calls)],
    `${Math.round(seconds)} s`,
  ])
  const columns = ['worker', 'state', 'running', 'done', 'per second', 'max calls', 'up for']
  return [
    workers.length === 0
      ? 'No workers are running. Start one with `magic worker`.'
      : tableLines({ columns, rows, texts: [0, 1] }, screen),
    '',
    `queue    ${counted(queue.waiting, 'evaluation')} waiting (oldest ${Math.round(queue.oldestSeconds)} s), ${queue.running} running, ${queue.rate.toFixed(2)} done per second`,
    ...refusals.map(({ worker, reason }) => `rejected ${worker}: ${reason}`),
  ]
}
