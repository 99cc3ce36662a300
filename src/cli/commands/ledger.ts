import { resolve } from 'node:path'
import { Command } from 'commander'
import { type CopyOptions, copyLedger, type LedgerDigest } from '../../store/ledger/copy-ledger.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { listLedgers, removeLedger } from '../../store/ledger/postgres-ledgers.ts'
import { SqliteLedger } from '../../store/ledger/sqlite.ts'
import { type LedgerHome, moveLedger } from '../../store/move-ledger.ts'
import { givenAddress, isPostgresAddress, PostgresAddress } from '../../store/postgres/address.ts'
import { Database } from '../../store/postgres/database.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { openRunLedger } from '../../store/run-ledger.ts'
import { interruptSignal } from '../interrupt.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'

interface CopyCommandOptions extends ReportOptions {
  readonly runsDir?: string
}

/** `magic ledger`: what runs have paid for, in their folders or on a PostgreSQL. */
export function ledgerCommand(): Command {
  return (
    new Command('ledger')
      .description('Move what runs have paid for between their folders and a PostgreSQL.')
      // Inner commands take over the program's settings for errors and help.
      .hook('preSubcommand', (ledger, inner) => void inner.copyInheritedSettings(ledger))
      .addCommand(copyCommand())
      .addCommand(listCommand())
      .addCommand(removeCommand())
      .addHelpText(
        'after',
        `
Examples:
  export MAGIC_LEDGER=postgres://user:password@host:5432/database
  magic ledger copy first postgres          the run first goes on with its ledger on the PostgreSQL
  magic ledger copy first sqlite            and back
  magic ledger copy first snapshot.sqlite   a copy beside it; the run stays with its own
  magic ledger list

New runs keep their ledger on the PostgreSQL wherever MAGIC_LEDGER is set. See docs/scale.md.`,
      )
  )
}

function copyCommand(): Command {
  const command = new Command('copy')
    .description('Copy a ledger and compare the copy, row by row; a run then goes on with it.')
    .argument('<from>', 'a run, or a ledger.sqlite')
    .argument('<to>', 'postgres (MAGIC_LEDGER), an address postgres://…, sqlite, or a new .sqlite file')
    .addOption(runsDirOption())
  return addReportOptions(command)
    .addHelpText(
      'after',
      '\nA copy that was interrupted goes on where it stopped when the command is repeated.',
    )
    .action((from: string, to: string, options: CopyCommandOptions) => copy(from, to, options))
}

async function copy(from: string, to: string, options: CopyCommandOptions): Promise<void> {
  const home = homeOf(to)
  const progress = openProgress(options)
  let phase: string | undefined
  const following: CopyOptions = {
    signal: interruptSignal((text) => progress.note(`${text} Repeat the command to go on.`)),
    onProgress: (now, rows, total) => {
      if (now !== phase) progress.start(total, `${now} rows`)
      phase = now
      progress.update({ done: rows })
    },
  }
  const copying =
    'file' in home
      ? copyToFile(() => openSource(from, options), home.file, following)
      : moveLedger(runOf(from, options), home.move, following)
  const copied = await copying.finally(() => progress.end())
  printResult(
    options,
    () => ({ from, to: 'file' in home ? home.file : String(home.move), tables: copied }),
    () => [
      ...Object.entries(copied).map(
        ([table, { rows, sha256 }]) =>
          `${table.padEnd(13)} ${String(rows).padStart(9)} rows  SHA-256 ${sha256}`,
      ),
      'Both hold the same rows.',
    ],
  )
}

async function copyToFile(
  open: () => Promise<Ledger>,
  file: string,
  options: CopyOptions,
): Promise<LedgerDigest> {
  await using closing = new AsyncDisposableStack()
  const source = await open()
  closing.defer(() => source.close())
  const target = await SqliteLedger.open(file)
  closing.defer(() => target.close())
  return await copyLedger(source, target, options)
}

function openSource(from: string, { runsDir }: CopyCommandOptions): Promise<Ledger> {
  return from.endsWith('.sqlite')
    ? SqliteLedger.open(resolve(from), { readOnly: true })
    : openRunLedger(existingRun(from, runsDir), { readOnly: true })
}

function runOf(from: string, { runsDir }: CopyCommandOptions): RunFolder {
  if (!from.endsWith('.sqlite')) return existingRun(from, runsDir)
  throw new UsageError('A file is copied to another file. To move the ledger of a run, name the run.')
}

/** A file of its own, or where the run's ledger is to be. */
function homeOf(to: string): { readonly file: string } | { readonly move: LedgerHome } {
  if (isPostgresAddress(to)) return { move: new PostgresAddress(to) }
  if (to === 'postgres') return { move: neededAddress() }
  if (to === 'sqlite') return { move: to }
  if (!to.endsWith('.sqlite'))
    throw new UsageError(`'${to}' is neither postgres, sqlite nor a file that ends in .sqlite.`)
  return { file: resolve(to) }
}

function neededAddress(): PostgresAddress {
  const address = givenAddress()
  if (address !== undefined) return address
  throw new UsageError('Set MAGIC_LEDGER to the address: postgres://user:password@host:5432/database.')
}

function listCommand(): Command {
  return new Command('list')
    .description('The ledgers on the PostgreSQL that MAGIC_LEDGER names.')
    .addOption(jsonOption())
    .action(async (options: { readonly json: boolean }) => {
      const database = await Database.open(neededAddress())
      const ledgers = await listLedgers(database).finally(() => database.close())
      printResult(
        options,
        () => ledgers,
        () =>
          ledgers.length === 0
            ? [`There are none at ${database.address.place} yet.`]
            : ledgers.map(
                ({ name, title, createdAt, evaluations, replies }) =>
                  `${name}  ${createdAt.slice(0, 16)}  ${String(evaluations).padStart(8)} evaluations  ${String(replies).padStart(8)} replies  ${title}`,
              ),
      )
    })
}

function removeCommand(): Command {
  return new Command('remove')
    .description('Delete a ledger on the PostgreSQL: what it holds would be paid for again.')
    .argument('<ledger>', 'its name, as `magic ledger list` or the ledger.json of a run has it')
    .addOption(jsonOption())
    .action(async (name: string, options: { readonly json: boolean }) => {
      const database = await Database.open(neededAddress())
      const removed = await removeLedger(database, name).finally(() => database.close())
      printResult(
        options,
        () => removed,
        () => [`Deleted ${removed.title}: ${removed.evaluations} evaluations, ${removed.replies} replies.`],
      )
    })
}
