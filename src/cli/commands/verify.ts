import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { type Verification, verify } from '../../evaluation/verify.ts'
import { exitCode } from '../../problem.ts'
import { SqliteLedger } from '../../store/ledger/sqlite.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { machineSandbox, unstartedSandbox } from '../../store/run-tools.ts'
import { screenOf, shownText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { openTasksOfRun } from '../job.ts'
import { existingRun } from '../open-run.ts'
import { runsDirOption } from '../options/common-options.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { printResult } from '../print.ts'

/** Work that takes no longer needs no bar. */
const silentMs = 1000

interface VerifyOptions extends ReportOptions {
  readonly runsDir?: string
}

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description(
      "Check, without a model, that a run's numbers follow from what it keeps: digests, checkpoints, scores, credit.",
    )
    .argument('<run>', 'its name, or the path of its folder')
    .addOption(runsDirOption())
  return addReportOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic verify first
  magic verify first --json

Every stored answer is scored again; for programs that takes a while.
Exits with 1 if a check fails.
${exitCodeHelp}`,
    )
    .action(async (name: string, options: VerifyOptions) => {
      const held = await verifyRun(existingRun(name, options.runsDir), options)
      process.exitCode = held ? exitCode.done : exitCode.failed
    })
}

async function verifyRun(folder: RunFolder, options: VerifyOptions): Promise<boolean> {
  const { name, tools } = folder.readRecord()
  const progress = openProgress(options)
  const { set, configuration } = await openTasksOfRun(folder)
  const sandbox = tools === undefined ? await machineSandbox() : unstartedSandbox(tools)
  const total = await evaluationsIn(folder)
  const screen = screenOf(process.stdout)
  const begun = performance.now()
  let isShown = false
  const onProgress = (done: number) => {
    if (!isShown && performance.now() - begun < silentMs) return
    if (!isShown) progress.start(total, 'scoring again', done)
    isShown = true
    progress.update({ done })
  }
  const found: Verification[] = []
  for await (const one of verify({ folder, set, sandbox, tools: configuration?.tools ?? [], onProgress })) {
    progress.end()
    found.push(one)
    if (options.json) continue
    const mark = one.ok ? screen.paint('green', '✓') : screen.paint('red', '✗')
    process.stdout.write(`${mark} ${shownText(`${one.name}: ${one.detail}`, screen)}\n`)
  }
  const wrong = found.filter(({ ok }) => !ok).length
  printResult(
    options,
    () => ({ run: name, ok: wrong === 0, checks: found }),
    () => `\n${verdict(name, found.length, wrong)}\n`,
  )
  return wrong === 0
}

function verdict(name: string, all: number, wrong: number): string {
  if (wrong === 0) return `${name} holds: ${counted(all, 'check')}.`
  return `${name} does not hold: ${wrong} of ${counted(all, 'check')} failed. Its numbers should not be used.`
}

/** Only for the bar; problems of the ledger are found by the verification. */
async function evaluationsIn({ ledgerFile }: RunFolder): Promise<number> {
  if (!existsSync(ledgerFile)) return 0
  try {
    const ledger = await SqliteLedger.open(ledgerFile, { readOnly: true })
    const { evaluations } = await ledger.size().finally(() => ledger.close())
    return evaluations
  } catch {
    return 0
  }
}
