import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { defaultConcurrency } from '../../settings/execution.ts'
import { Database } from '../../store/postgres/database.ts'
import { defaultLeaseSeconds } from '../../workers/lease.ts'
import { runWorker } from '../../workers/worker.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { type AssignmentOptions, openAssignment } from '../open-assignment.ts'
import { concurrencyOption } from '../options/common-options.ts'
import { addModelOptions } from '../options/model-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { sharedAddress } from '../options/workers-option.ts'

interface WorkerCommandOptions extends AssignmentOptions {
  readonly name: string
  readonly concurrency?: number
  readonly lease: number
}

export function workerCommand(): Command {
  const command = new NotedCommand('worker')
    .description('Run graphs for `magic train --workers` and `magic eval --workers`, until stopped.')
    .option('--name <name>', 'name shown to people', `${hostname()}-${process.pid}`)
    .option(
      '--lease <seconds>',
      'a worker loses its work after this much silence',
      wholeNumber(1),
      defaultLeaseSeconds,
    )
    .option(
      '--config <file>',
      "this machine's configuration (default: magic.config.* in this folder)",
      (path) => resolve(path),
    )
    .option('--data <folder>', 'folder with the benchmark data; see `magic data`', (path) => resolve(path))
    .addOption(concurrencyOption())
  addModelOptions(command)
  return command
    .notes({
      examples: [
        ['export MAGIC_LEDGER=postgres://magic:secret@database:5432/magic'],
        ['magic worker', 'takes whatever is submitted, with 8 concurrent calls'],
        ['magic worker --concurrency 32 --name blue', 'more at once'],
        ['DEEPSEEK_API_KEY=… magic worker', 'only workers need the key, not the trainer'],
      ],
      notes: [
        "MAGIC_LEDGER names the PostgreSQL. A worker rejects work for another version, library, model or data than this machine's, and the trainer says so. The first Ctrl-C or SIGTERM finishes running work; a second one quits at once, and other workers take over.",
        exitCodeNote,
      ],
    })
    .action(work)
}

async function work(options: WorkerCommandOptions): Promise<void> {
  const { name, concurrency: calls = defaultConcurrency, lease: leaseSeconds } = options
  const say = (text: string) => void process.stderr.write(`${name}: ${text}\n`)
  const drain = interruptSignal((text) => say(`${text} Running evaluations finish first.`))
  const address = sharedAddress()
  // One connection per concurrent call, plus some for the queue and its listener.
  const connections = calls + 4
  const opening = Database.open(address, { connections, patienceMs: 600_000, signal: drain, say })
  await using database = await opening.catch((error: unknown) => {
    // If stopped while waiting for the database, there is nothing to finish.
    if (error !== drain.reason) throw error
    return undefined
  })
  if (database !== undefined) {
    say(`Working for ${address.place} with up to ${calls} concurrent calls.`)
    await runWorker({
      ...{ database, name, calls, leaseSeconds, drain, say },
      open: (assignment, means) => openAssignment(assignment, means, options),
    })
  }
  say('Done.')
}
