import { Command } from 'commander'
import { Database } from '../../store/postgres/database.ts'
import { type WorkOverview, workOverview } from '../../workers/overview.ts'
import type { Lines, Screen } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { jsonOption } from '../options/common-options.ts'
import { sharedAddress } from '../options/workers-option.ts'
import { printResult } from '../print.ts'

export function workersCommand(): Command {
  return new Command('workers')
    .description('Show who works for `--workers`: workers, what they do, how fast, and what waits.')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  magic workers           the workers on the PostgreSQL that MAGIC_LEDGER names
  watch magic workers     again and again
  magic workers --json    for a script`,
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
  const columns = ['worker', 'state', 'running', 'done', 'per second', 'calls at most', 'since']
  return [
    workers.length === 0
      ? 'No worker is there. Start one with `magic worker`.'
      : tableLines({ columns, rows, texts: [0, 1] }, screen),
    '',
    `queue    ${counted(queue.waiting, 'evaluation')} waiting (the oldest for ${Math.round(queue.oldestSeconds)} s), ${queue.running} under way, ${queue.rate.toFixed(2)} done per second`,
    ...refusals.map(({ worker, reason }) => `refused  ${worker}: ${reason}`),
  ]
}
