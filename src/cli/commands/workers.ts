import type { Command } from 'commander'
import { Database } from '../../store/postgres/database.ts'
import { readersPatienceMs } from '../../store/run-ledger.ts'
import { type WorkOverview, workOverview } from '../../workers/overview.ts'
import { duration } from '../display/numbers.ts'
import type { Lines, Screen } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { NotedCommand } from '../help-notes.ts'
import { jsonOption } from '../options/common-options.ts'
import { sharedAddress } from '../options/workers-option.ts'
import { printResult } from '../print.ts'

export function workersCommand(): Command {
  return new NotedCommand('workers')
    .description('Show the `magic worker` processes, their speed, and the queue.')
    .addOption(jsonOption())
    .notes({
      examples: [
        ['magic workers', 'the workers on the PostgreSQL in MAGIC_LEDGER'],
        ['watch magic workers', 'keep watching'],
        ['magic workers --json', 'for scripts'],
      ],
    })
    .action(async (options: { readonly json: boolean }) => {
      await using database = await Database.open(sharedAddress(), { patienceMs: readersPatienceMs })
      const overview = await workOverview(database)
      printResult(options, overview, (screen) => overviewLines(overview, screen))
    })
}

function overviewLines({ workers, queue, models, refusals }: WorkOverview, screen: Screen): Lines {
  const rows = workers.map(({ name, state, running, done, runs, rate, calls, seconds }) => [
    ...[name, state, runs.map(({ run }) => run).join(', ') || '–', String(running), String(done)],
    ...[rate.toFixed(2), String(calls), duration(seconds * 1000)],
  ])
  const columns = ['worker', 'state', 'works on', 'running', 'done', 'per second', 'max calls', 'up for']
  return [
    workers.length === 0
      ? 'No workers are running. Start one with `magic worker`.'
      : tableLines({ columns, rows, texts: [0, 1, 2] }, screen),
    '',
    `queue    ${counted(queue.waiting, 'evaluation')} waiting (oldest ${Math.round(queue.oldestSeconds)} s), ${queue.running} running, ${queue.rate.toFixed(2)} done per second`,
    ...queue.runs.map(
      ({ run, waiting, running }) => `run      ${run}: ${waiting} waiting, ${running} running`,
    ),
    ...models.map((model) => `model    ${modelText(model)}`),
    ...refusals.map(({ worker, reason }) => `refused  ${worker}: ${reason}`),
  ]
}

function modelText(one: WorkOverview['models'][number]): string {
  const { model, callsPerMinute, requestsPerMinute, tokensPerMinute, learnedPerMinute } = one
  const limits = [
    requestsPerMinute !== null && `limit ${requestsPerMinute}`,
    tokensPerMinute !== null && `limit ${tokensPerMinute} tokens per minute`,
    learnedPerMinute !== null && `slowed to ${Math.round(learnedPerMinute)} per minute by refusals (429)`,
  ].filter((text) => text !== false)
  return [`${model}: ${Math.round(callsPerMinute)} calls per minute`, ...limits].join(', ')
}
