import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { defaultConcurrency } from '../../settings/execution.ts'
import { Database } from '../../store/postgres/database.ts'
import { defaultLeaseSeconds } from '../../workers/lease.ts'
import { runWorker } from '../../workers/worker.ts'
import { exitCodeHelp } from '../exit-code.ts'
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
  const command = new Command('worker')
    .description(
      'Run graphs that `magic train --workers` and `magic eval --workers` submit, until it is told to stop.',
    )
    .option('--name <name>', 'for people', `${hostname()}-${process.pid}`)
    .option(
      '--lease <seconds>',
      'a worker that is silent for so long loses its work',
      wholeNumber(1),
      defaultLeaseSeconds,
    )
    .option(
      '--config <file>',
      'configuration of this machine; magic.config.* of this folder by default',
      (path) => resolve(path),
    )
    .option('--data <folder>', 'where the benchmarks are; see `magic data`', (path) => resolve(path))
    .addOption(concurrencyOption())
  addModelOptions(command)
  return command
    .addHelpText(
      'after',
      `
Examples:
  export MAGIC_LEDGER=postgres://magic:secret@database:5432/magic
  magic worker                                 8 calls in flight, on whatever is submitted
  magic worker --concurrency 32 --name blue    more at once
  DEEPSEEK_API_KEY=… magic worker              the key of the model is here, not where the training runs

MAGIC_LEDGER names the PostgreSQL. Work of another version, or for another library, model or data than this machine's, is
refused, and the trainer says so. SIGTERM or Ctrl-C ends it after what it is doing; a second one ends it at once, and others
take its work over.
${exitCodeHelp}`,
    )
    .action(work)
}

async function work(options: WorkerCommandOptions): Promise<void> {
  const { name, concurrency: calls = defaultConcurrency, lease: leaseSeconds } = options
  const say = (text: string) => process.stderr.write(`${name}: ${text}\n`)
  const drain = interruptSignal((text) => say(`${text} What is under way is finished first.`))
  const address = sharedAddress()
  // Jobs, answers and results at once, besides who listens.
  const database = await Database.open(address, { connections: calls + 4, patienceMs: 600_000 })
  try {
    say(`${calls} calls at most, for ${address.place}.`)
    await runWorker({
      ...{ database, name, calls, leaseSeconds, drain, say },
      open: (assignment, means) => openAssignment(assignment, means, options),
    })
    say('Done.')
  } finally {
    await database.close()
  }
}
