import { basename } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type EvaluatedOrganisation, evaluate } from '../../evaluation/evaluate.ts'
import { NothingEvaluatedError } from '../../evaluation/evaluate-organisation.ts'
import {
  type OrganisationName,
  organisationNames,
  organisationsOf,
} from '../../evaluation/named-organisation.ts'
import type { QuestionRecord } from '../../evaluation/organisation-report.ts'
import { addCosts } from '../../models/prices.ts'
import { exitCode } from '../../problem.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import type { TransportRule } from '../../training/training-evaluator.ts'
import { percent, tokens } from '../display/numbers.ts'
import type { ProgressFields } from '../display/progress.ts'
import { counted } from '../display/terminal-text.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { interruptSignal } from '../interrupt.ts'
import { type Job, type JobOptions, reopenJob } from '../job.ts'
import { encoderOfRun, existingRun } from '../open-run.ts'
import {
  checkpointOption,
  concurrencyOption,
  drawSeedOption,
  runsDirOption,
} from '../options/common-options.ts'
import { addModelOptions } from '../options/model-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { addBudgetOptions, type BudgetOptions, givenSettings } from '../options/training-options.ts'
import { printAside, printResult } from '../print.ts'
import { startTelemetry } from '../telemetry.ts'
import { costText, evaluationLines } from '../views/evaluation-table.ts'

interface EvalOptions extends JobOptions, BudgetOptions, ReportOptions {
  readonly split: string
  readonly organisation?: readonly OrganisationName[]
  readonly limit?: number
  readonly seed?: number
  readonly threshold?: number
  readonly update?: number
  readonly transportFailures: TransportRule
}

export function evalCommand(): Command {
  const command = new Command('eval')
    .description("Score a run's policy, and fixed organisations beside it, on held-out questions.")
    .argument('<run>', 'name or folder of the run')
    .option('--split <name>', 'questions to ask', 'test')
    .option(
      '--organisation <names...>',
      `which ones, with commas or repeated: ${organisationNames.join(', ')} (default: trained)`,
      organisations,
    )
    .option('--limit <n>', 'only the first questions of the split', wholeNumber(1))
    .addOption(drawSeedOption())
    .option('--threshold <x>', 'exit with 4 if the first score is below, such as 0.6 or 60%', share)
    .addOption(
      new Option(
        '--transport-failures <rule>',
        'where the model cannot be reached for an answer: stop, or score 0 as the paper does',
      )
        .choices(['stop', 'zero'])
        .default('stop'),
    )
    .addOption(checkpointOption())
    .addOption(concurrencyOption("the run's"))
    .addOption(runsDirOption())
  addBudgetOptions(command)
  addModelOptions(command)
  return addReportOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic eval first
  magic eval first --organisation trained,untrained,direct,chain --limit 100
  magic eval first --organisation atomic-at-use group-at-use --seed 7 --json > scores.json
  magic eval first --threshold 0.7 --max-cost 2          for CI: exits with 4 below 70 %

Every call is made afresh; nothing is reused from training. A question without a valid answer scores 0.
atomic-at-use and group-at-use are the trained policy held to single agents or to groups; a policy that was trained
so is a run of its own (\`magic train --restriction\`). Caps hold for all organisations together.
Records are kept with the run: repeat the command to continue after a cap or Ctrl-C; \`magic compare\` puts them side
by side.
${exitCodeHelp}`,
    )
    .action(evaluateRun)
}

function organisations(text: string, earlier: readonly OrganisationName[] = []): OrganisationName[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !(organisationNames as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`'${unknown}' is none of ${organisationNames.join(', ')}.`)
  return [...new Set([...earlier, ...(names as OrganisationName[])])]
}

function share(text: string): number {
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('It must be from 0 to 1, or from 0% to 100%.')
  return value
}

async function evaluateRun(name: string, options: EvalOptions): Promise<void> {
  const { seed, update } = options
  const folder = existingRun(name, options.runsDir)
  const run = folder.readRecord()
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  const signal = interruptSignal((text) => say(`${text} Repeat the command to go on.`))
  await using closing = new AsyncDisposableStack()
  closing.defer(await startTelemetry())
  const job = closing.adopt(await reopenJob(run, options, say), (one) => one.close())
  closing.defer(() => progress.end())
  const { set, model, execution, sandbox, tools, concurrency, isSimulated } = job
  const open = organisationsOf(folder, { encoder: await encoderOfRun(run, say), seed, update })
  const budget = givenSettings(options, job.configuration).budget
  const names = options.organisation ?? ['trained']
  const evaluated: EvaluatedOrganisation[] = []
  // Of all organisations; what earlier commands used does not count against this one's caps.
  const fresh: QuestionRecord[] = []
  const start = performance.now()
  for (const name of names) {
    const { organisation, about } = await open(name)
    const records: QuestionRecord[] = []
    const report = await evaluate({
      ...{ set, model, execution, sandbox, tools, concurrency, organisation, about, folder, signal },
      ...{
        split: options.split,
        tasks: options.limit,
        transportFailures: options.transportFailures,
        budget: left(budget, usedBy(fresh, start)),
      },
      onStart: (earlier, total) => {
        records.push(...earlier)
        const remark = `${isSimulated ? ' (simulated)' : ''}${earlier.length > 0 ? ', going on' : ''}`
        progress.start(total, `${organisation.name}${remark}`, earlier.length)
      },
      onRecord: (record, { done }) => {
        fresh.push(record)
        records.push(record)
        progress.update({ done, fields: runningFields(records, isSimulated) })
      },
    }).catch((error: unknown) => {
      // A cap or Ctrl-C came before the first record: not a failure.
      const isCapped = Object.values(budget).some((cap) => cap !== undefined)
      if (error instanceof NothingEvaluatedError && (signal.aborted || isCapped)) return undefined
      throw error
    })
    progress.end(
      report &&
        `${percent(report.score.mean)}, ${tokens(report.tokens.total)} tokens per question, ${costText(report.cost, isSimulated)}`,
    )
    if (report !== undefined) evaluated.push(report)
    if (report?.complete !== true) break
  }
  const isComplete = evaluated.length === names.length && evaluated.at(-1)!.complete
  const ended = isComplete ? 'done' : signal.aborted ? 'interrupted' : 'cap'
  const missing = names.slice(evaluated.length)
  process.exitCode = report({ evaluated, missing, ended, used: usedBy(fresh, start) }, job, folder, options)
}

interface Outcome {
  readonly evaluated: readonly EvaluatedOrganisation[]
  readonly missing: readonly OrganisationName[]
  readonly ended: 'done' | 'cap' | 'interrupted'
  readonly used: Required<BudgetSettings>
}

/** Prints what came out, and gives the exit code. */
function report(
  { evaluated, missing, ended, used }: Outcome,
  { set, isSimulated }: Job,
  folder: RunFolder,
  { split, threshold, ...options }: EvalOptions,
): number {
  const [first, last] = [evaluated[0], evaluated.at(-1)]
  // Unknown while the first evaluation is incomplete.
  const passed = threshold !== undefined && first?.complete ? first.score.mean >= threshold : undefined
  printResult(
    options,
    () => ({
      ...{ run: folder.readRecord().name, split, metric: set.metric, simulated: isSimulated },
      ...{ ended, missing, used, threshold, passed: threshold === undefined ? undefined : (passed ?? null) },
      evaluations: evaluated.map(({ records: _, ...summary }) => summary),
    }),
    (screen) => {
      const rows = evaluated.map((report) => ({ label: report.organisation, report, isSimulated }))
      return rows.length > 0 && ['', evaluationLines(rows, set.metric, screen)]
    },
  )
  const kept = evaluated.map((one) => basename(one.folder!)).join(', ')
  const where =
    last?.complete === false ? ` after ${last.n} of ${last.total} questions of ${last.organisation}` : ''
  const rest = missing.length === 0 ? '' : ` Not evaluated: ${missing.join(', ')}.`
  const spent = `${counted(used.calls, 'call')} and ${tokens(used.tokens)} tokens`
  printAside(() => [
    !options.json && kept !== '' && ['', `Records: ${kept} in ${folder.evaluationsFolder}`],
    ended === 'cap' &&
      `Stopped at a cap${where}, with ${spent}: questions under way were finished.${rest} Repeat the command, with a higher cap if need be, to go on.`,
    ended === 'interrupted' && `Interrupted${where}.${rest} Repeat the command to go on.`,
    passed === false &&
      `Below the threshold: ${first!.organisation} has ${percent(first!.score.mean)}, asked for is ${percent(threshold!)}.`,
  ])
  if (ended !== 'done') return ended === 'cap' ? exitCode.capReached : exitCode.interrupted
  return passed === false ? exitCode.belowThreshold : exitCode.done
}

/** Score, tokens and money of an evaluation so far. */
function runningFields(records: readonly QuestionRecord[], isSimulated: boolean): ProgressFields {
  const score = sum(records, (record) => record.score) / records.length
  const used = sum(records, ({ usage }) => usage.input + usage.output)
  const failed = records.filter(({ status }) => status !== 'answered').length
  const cost = records.map((record) => record.cost).reduce(addCosts)
  return {
    score: { text: `score ${percent(score)}`, value: score },
    tokens: { text: `${tokens(used)} tokens`, value: used },
    cost: { text: costText(cost, isSimulated), value: cost === 'unpriced' ? null : cost.amount },
    ...(failed > 0 && { failed: { text: `${failed} failed`, value: failed } }),
  }
}

function usedBy(records: readonly QuestionRecord[], start: number): Required<BudgetSettings> {
  return {
    cost: sum(records, ({ cost }) => (cost === 'unpriced' ? 0 : cost.amount)),
    tokens: sum(records, ({ usage }) => usage.input + usage.output),
    calls: sum(records, ({ usage }) => usage.calls),
    minutes: (performance.now() - start) / 60_000,
  }
}

function sum(records: readonly QuestionRecord[], amount: (record: QuestionRecord) => number): number {
  return records.reduce((total, record) => total + amount(record), 0)
}

/** What earlier organisations have left of the caps. */
function left(budget: BudgetSettings, used: Required<BudgetSettings>): BudgetSettings {
  const caps = Object.entries(budget) as [keyof BudgetSettings, number | undefined][]
  return Object.fromEntries(caps.map(([name, cap]) => [name, cap && Math.max(0, cap - used[name])]))
}
