import { basename } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { type EvaluatedOrganisation, evaluate } from '../../evaluation/evaluate.ts'
import { NothingEvaluatedError } from '../../evaluation/evaluate-organisation.ts'
import {
  type NamedOrganisation,
  type OrganisationName,
  organisationNames,
  organisationsOf,
} from '../../evaluation/named-organisation.ts'
import type { QuestionRecord } from '../../evaluation/organisation-report.ts'
import { exitCode } from '../../problem.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { percent, tokens } from '../display/numbers.ts'
import type { Progress } from '../display/progress.ts'
import type { Screen } from '../display/screen.ts'
import { terminalTable } from '../display/table.ts'
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
import { printResult } from '../print.ts'
import { startTelemetry } from '../telemetry.ts'
import { costText, evaluationTable, simulatedNote, tableLegend } from '../views/evaluation-table.ts'
import { RunningScore } from '../views/running-score.ts'

interface EvalOptions extends JobOptions, BudgetOptions, ReportOptions {
  readonly split: string
  readonly organisation?: readonly OrganisationName[]
  readonly limit?: number
  readonly seed?: number
  readonly threshold?: number
  readonly update?: number
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
  magic eval first --organisation all-atomic all-group --seed 7 --json > scores.json
  magic eval first --threshold 0.7 --max-cost 2          for CI: exits with 4 below 70 %

Every call is made afresh; nothing is reused from training. A question without a valid answer scores 0. all-atomic and
all-group are the trained policy restricted to single agents or to groups. Caps hold for all organisations together.
Records are kept with the run: repeat the command to continue after a cap or Ctrl-C; \`magic compare\` puts them side
by side.
${exitCodeHelp}`,
    )
    .action(async (run: string, options: EvalOptions) => {
      process.exitCode = await evaluateRun(run, options)
    })
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

interface Outcome {
  readonly evaluated: readonly EvaluatedOrganisation[]
  /** Organisations without a single record. */
  readonly missing: readonly OrganisationName[]
  readonly ended: 'done' | 'cap' | 'interrupted'
  /** By this command, over all organisations; earlier commands do not count against its caps. */
  readonly used: Used
}

type Used = Readonly<Record<keyof BudgetSettings, number>>

async function evaluateRun(name: string, options: EvalOptions): Promise<number> {
  const folder = existingRun(name, options.runsDir)
  const run = folder.readRecord()
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  const signal = interruptSignal((text) => say(`${text} Repeat the command to go on.`))
  const endTelemetry = await startTelemetry()
  const job = await reopenJob(run, options, say)
  try {
    const { seed, update } = options
    const open = organisationsOf(folder, { encoder: await encoderOfRun(run, say), seed, update })
    const outcome = await evaluateAll(folder, job, options, { open, progress, signal })
    report(outcome, job, options, folder)
    return codeOf(outcome, options)
  } finally {
    progress.end()
    await job.close()
    await endTelemetry()
  }
}

interface Means {
  readonly open: (name: OrganisationName) => Promise<NamedOrganisation>
  readonly progress: Progress
  readonly signal: AbortSignal
}

async function evaluateAll(
  folder: RunFolder,
  job: Job,
  options: EvalOptions,
  { open, progress, signal }: Means,
): Promise<Outcome> {
  const names = options.organisation ?? ['trained']
  const budget = givenSettings(options, job.configuration).budget
  const evaluated: EvaluatedOrganisation[] = []
  const fresh: QuestionRecord[] = []
  const start = performance.now()
  for (const [position, name] of names.entries()) {
    const { organisation, about } = await open(name)
    const score = new RunningScore(job.isSimulated)
    const report = await evaluate({
      ...{ set: job.set, model: job.model, execution: job.execution, sandbox: job.sandbox, tools: job.tools },
      ...{ organisation, about, folder, split: options.split, concurrency: job.concurrency, signal },
      tasks: options.limit,
      budget: left(budget, usedBy(fresh, performance.now() - start)),
      onStart: (earlier, total) => {
        for (const record of earlier) score.add(record)
        const goesOn = earlier.length > 0 ? ', going on' : ''
        progress.start(
          total,
          `${organisation.name}${job.isSimulated ? ' (simulated)' : ''}${goesOn}`,
          earlier.length,
        )
      },
      onRecord: (record, { done }) => {
        fresh.push(record)
        score.add(record)
        progress.update({ done, fields: score.fields() })
      },
    }).catch((error: unknown) => {
      // A cap or Ctrl-C came before the first record: not a failure.
      if (error instanceof NothingEvaluatedError && (signal.aborted || hasCap(budget))) return undefined
      throw error
    })
    progress.end(
      report === undefined
        ? undefined
        : `${percent(report.score.mean)}, ${tokens(report.tokens.total)} tokens per question, ${costText(report.cost, job.isSimulated)}`,
    )
    if (report !== undefined) evaluated.push(report)
    if (report?.complete === true) continue
    const missing = names.slice(report === undefined ? position : position + 1)
    const used = usedBy(fresh, performance.now() - start)
    return { evaluated, missing, ended: signal.aborted ? 'interrupted' : 'cap', used }
  }
  return { evaluated, missing: [], ended: 'done', used: usedBy(fresh, performance.now() - start) }
}

function hasCap(budget: BudgetSettings): boolean {
  return Object.values(budget).some((cap) => cap !== undefined)
}

function usedBy(records: readonly QuestionRecord[], elapsedMs: number): Used {
  const sum = (amount: (record: QuestionRecord) => number) =>
    records.reduce((total, record) => total + amount(record), 0)
  return {
    cost: sum(({ cost }) => (cost === 'unpriced' ? 0 : cost.amount)),
    tokens: sum(({ usage }) => usage.input + usage.output),
    calls: sum(({ usage }) => usage.calls),
    minutes: elapsedMs / 60_000,
  }
}

/** What earlier organisations have left of the caps. */
function left(budget: BudgetSettings, used: Used): BudgetSettings {
  const caps = Object.entries(budget) as [keyof BudgetSettings, number | undefined][]
  return Object.fromEntries(
    caps.flatMap(([name, cap]) => (cap === undefined ? [] : [[name, Math.max(0, cap - used[name])]])),
  )
}

function report(outcome: Outcome, job: Job, options: EvalOptions, folder: RunFolder): void {
  printResult(
    options,
    () => outcomeJson(outcome, job, options, folder),
    (screen) => outcomeText(outcome, job, screen),
  )
  if (!options.json && outcome.evaluated.length > 0) {
    const kept = outcome.evaluated.map((one) => basename(one.folder!)).join(', ')
    process.stderr.write(`\nRecords: ${kept} in ${folder.evaluationsFolder}\n`)
  }
  for (const line of remarks(outcome, options)) process.stderr.write(`${line}\n`)
}

function outcomeText({ evaluated }: Outcome, { isSimulated, set }: Job, screen: Screen): string {
  if (evaluated.length === 0) return ''
  const rows = evaluated.map((one) => ({ label: one.organisation, report: one, isSimulated }))
  const table = terminalTable(evaluationTable(rows, set.metric), screen)
  return `\n${table}\n${tableLegend}\n${isSimulated ? `${simulatedNote}\n` : ''}`
}

function outcomeJson(
  outcome: Outcome,
  { isSimulated, set }: Job,
  options: EvalOptions,
  folder: RunFolder,
): object {
  const { evaluated, ended, missing, used } = outcome
  const { split, threshold } = options
  return {
    run: folder.readRecord().name,
    split,
    metric: set.metric,
    simulated: isSimulated,
    ended,
    missing,
    used,
    ...(threshold === undefined ? {} : { threshold, passed: passed(outcome, options) ?? null }),
    evaluations: evaluated.map(({ records: _, ...summary }) => summary),
  }
}

function remarks(outcome: Outcome, options: EvalOptions): string[] {
  const { evaluated, ended, missing, used } = outcome
  const last = evaluated.at(-1)
  const rest = missing.length === 0 ? '' : ` Not evaluated: ${missing.join(', ')}.`
  const incomplete =
    last === undefined || last.complete
      ? ''
      : ` after ${last.n} of ${last.total} questions of ${last.organisation}`
  const lines: string[] = []
  if (ended === 'cap')
    lines.push(
      `Stopped at a cap${incomplete}, with ${counted(used.calls, 'call')} and ${tokens(used.tokens)} tokens: questions under way were finished.${rest} Repeat the command, with a higher cap if need be, to go on.`,
    )
  if (ended === 'interrupted') lines.push(`Interrupted${incomplete}.${rest} Repeat the command to go on.`)
  if (passed(outcome, options) === false) {
    const { organisation, score } = evaluated[0]!
    lines.push(
      `Below the threshold: ${organisation} has ${percent(score.mean)}, asked for is ${percent(options.threshold!)}.`,
    )
  }
  return lines
}

/** Undefined without a threshold, or while the first evaluation is incomplete. */
function passed({ evaluated: [first] }: Outcome, { threshold }: EvalOptions): boolean | undefined {
  if (threshold === undefined || first === undefined || !first.complete) return undefined
  return first.score.mean >= threshold
}

function codeOf(outcome: Outcome, options: EvalOptions): number {
  if (outcome.ended === 'interrupted') return exitCode.interrupted
  if (outcome.ended === 'cap') return exitCode.capReached
  return passed(outcome, options) === false ? exitCode.belowThreshold : exitCode.done
}
