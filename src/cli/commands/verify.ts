import type { Command } from 'commander'
import type { Verification } from '../../evaluation/verification/verification.ts'
import { verify } from '../../evaluation/verification/verify.ts'
import { exitCode } from '../../problem.ts'
import { ledgerPlace, openPlacedLedger } from '../../store/run-ledger.ts'
import { machineSandbox, unstartedSandbox } from '../../store/run-tools.ts'
import { screenOf, shownText, wrapText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { openTasksOfRun } from '../job.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { printAside, printResult } from '../print.ts'

interface VerifyOptions {
  readonly runsDir?: string
  readonly json: boolean
}

export function verifyCommand(): Command {
  return new NotedCommand('verify')
    .description(
      "Recompute a run's numbers from its stored data, without a model: digests, checkpoints, scores, credit.",
    )
    .argument('<run>', 'name or folder of a run')
    .addOption(runsDirOption())
    .addOption(jsonOption('the result as one JSON object'))
    .notes({
      examples: [['magic verify first'], ['magic verify first --json']],
      notes: [
        'Scores every stored answer again, which takes a while for programs. Exits with 1 if a check fails.',
        exitCodeNote,
      ],
    })
    .action(verifyRun)
}

async function verifyRun(run: string, options: VerifyOptions): Promise<void> {
  const folder = existingRun(run, options.runsDir)
  const { name, tools } = folder.readRecord()
  // A PostgreSQL that cannot be reached is no verdict on the run, so it is an error and not a failed check.
  const place = ledgerPlace(folder)
  if (place !== undefined) await (await openPlacedLedger(place, true)).close()
  const { set, configuration } = await openTasksOfRun(folder)
  const sandbox = tools === undefined ? await machineSandbox() : unstartedSandbox(tools)
  const screen = screenOf(process.stdout)
  const patience = setTimeout(() => printAside(() => ['Scoring stored answers again …']), 2000)
  const found: Verification[] = []
  try {
    for await (const one of verify({ folder, set, sandbox, tools: configuration?.tools ?? [] })) {
      found.push(one)
      if (options.json) continue
      const mark = one.ok ? screen.paint('green', '✓') : screen.paint('red', '✗')
      process.stdout.write(
        screen.text([`${mark} ${wrapText(shownText(`${one.name}: ${one.detail}`), screen, '  ')}`]),
      )
    }
  } finally {
    clearTimeout(patience)
  }
  const wrong = found.filter(({ ok }) => !ok).length
  const all = counted(found.length, 'check')
  const verdict =
    wrong === 0
      ? `${name} is intact: ${all} passed.`
      : `${name} is not intact: ${wrong} of ${all} failed. Do not use its numbers.`
  printResult(options, { run: name, ok: wrong === 0, checks: found }, () => ['', verdict])
  process.exitCode = wrong === 0 ? exitCode.done : exitCode.failed
}
