import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type CopyOptions, copyLedger, type LedgerDigest } from '../../store/ledger/copy-ledger.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { listLedgers, removeLedger } from '../../store/ledger/postgres-ledgers.ts'
import { SqliteLedger } from '../../store/ledger/sqlite.ts'
import { type LedgerHome, moveLedger } from '../../store/move-ledger.ts'
import { givenAddress, isPostgresAddress, PostgresAddress } from '../../store/postgres/address.ts'
import { Database } from '../../store/postgres/database.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { openRunLedger, readersPatienceMs } from '../../store/run-ledger.ts'
import { NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'

interface CopyCommandOptions extends ReportOptions {
  readonly runsDir?: string
}

export function ledgerCommand(): Command {
  return (
    new NotedCommand('ledger')
      .description('Move ledgers, which hold what runs have paid for, between run folders and PostgreSQL.')
      // Subcommands inherit the program's settings for errors and help.
      .hook('preSubcommand', (ledger, inner) => void inner.copyInheritedSettings(ledger))
      .addCommand(copyCommand())
      .addCommand(listCommand())
      .addCommand(removeCommand())
      .notes({
        examples: [
          ['export MAGIC_LEDGER=postgres://user:password@host:5432/database'],
          ['magic ledger copy first postgres', 'move the ledger of run first to PostgreSQL'],
          ['magic ledger copy first sqlite', 'move it back'],
          ['magic ledger copy first snapshot.sqlite', 'copy it; the run keeps its own'],
          ['magic ledger list'],
        ],
        notes: [
          'Where MAGIC_LEDGER is set, new runs keep their ledger on that PostgreSQL. See docs/scale.md.',
        ],
      })
  )
}

function copyCommand(): Command {
  const command = new NotedCommand('copy')
    .description('Copy a ledger and compare the copy row by row. The run then uses the copy.')
    .argument('<from>', 'a run, or a .sqlite file')
    .argument('<to>', 'postgres (the one in MAGIC_LEDGER), postgres://…, sqlite, or a new .sqlite file')
    .addOption(runsDirOption())
  return addReportOptions(command)
    .addHelpText('after', '\nRepeat the command to continue an interrupted copy.')
    .action((from: string, to: string, options: CopyCommandOptions) => copy(from, to, options))
}

async function copy(from: string, to: string, options: CopyCommandOptions): Promise<void> {
  const home = homeOf(to)
  const progress = openProgress(options)
  let phase: string | undefined
  const following: CopyOptions = {
    signal: interruptSignal((text) => progress.note(`${text} Repeat the command to continue.`)),
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
  printResult(options, { from, to: 'file' in home ? home.file : String(home.move), tables: copied }, () => [
    ...Object.entries(copied).map(
      ([table, { rows, sha256 }]) =>
        `${table.padEnd(13)} ${String(rows).padStart(9)} rows  SHA-256 ${sha256}`,
    ),
    'Source and copy hold the same rows.',
  ])
}

async function copyToFile(
  open: () => Promise<Ledger>,
  file: string,
  options: CopyOptions,
): Promise<LedgerDigest> {
  await using source = await open()
  await using target = await SqliteLedger.open(file)
  return await copyLedger(source, target, options)
}

function openSource(from: string, { runsDir }: CopyCommandOptions): Promise<Ledger> {
  return from.endsWith('.sqlite')
    ? SqliteLedger.open(resolve(from), { readOnly: true })
    : openRunLedger(existingRun(from, runsDir), { readOnly: true })
}

function runOf(from: string, { runsDir }: CopyCommandOptions): RunFolder {
  if (!from.endsWith('.sqlite')) return existingRun(from, runsDir)
  throw new UsageError(
    'A file can only be copied to another file. To move the ledger of a run, name the run.',
  )
}

/** A separate file, or the new place of the run's ledger. */
function homeOf(to: string): { readonly file: string } | { readonly move: LedgerHome } {
  if (isPostgresAddress(to)) return { move: new PostgresAddress(to) }
  if (to === 'postgres') return { move: neededAddress() }
  if (to === 'sqlite') return { move: to }
  if (!to.endsWith('.sqlite'))
    throw new UsageError(`'${to}' is not postgres, postgres://…, sqlite or a .sqlite file.`)
  return { file: resolve(to) }
}

function neededAddress(): PostgresAddress {
  const address = givenAddress()
  if (address !== undefined) return address
  throw new UsageError(
    'Set MAGIC_LEDGER to the address of the PostgreSQL: postgres://user:password@host:5432/database.',
  )
}

function listCommand(): Command {
  return new NotedCommand('list')
    .description('List the ledgers on the PostgreSQL in MAGIC_LEDGER.')
    .addOption(jsonOption())
    .action(async (options: { readonly json: boolean }) => {
      await using database = await Database.open(neededAddress(), { patienceMs: readersPatienceMs })
      const ledgers = await listLedgers(database)
      printResult(options, ledgers, () =>
        ledgers.length === 0
          ? [`There are no ledgers at ${database.address.place} yet.`]
          : ledgers.map(
              ({ name, title, createdAt, evaluations, replies }) =>
                `${name}  ${createdAt.slice(0, 16)}  ${String(evaluations).padStart(8)} evaluations  ${String(replies).padStart(8)} replies  ${title}`,
            ),
      )
    })
}

function removeCommand(): Command {
  return new NotedCommand('remove')
    .description('Delete a ledger from PostgreSQL. What it held would have to be paid for again.')
    .argument('<ledger>', "its name, from `magic ledger list` or a run's ledger.json")
    .addOption(jsonOption())
    .action(async (name: string, options: { readonly json: boolean }) => {
      await using database = await Database.open(neededAddress(), { patienceMs: readersPatienceMs })
      const removed = await removeLedger(database, name)
      printResult(options, removed, () => [
        `Deleted ${removed.title}: ${removed.evaluations} evaluations, ${removed.replies} replies.`,
      ])
    })
}
