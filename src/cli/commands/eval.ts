import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Command, InvalidArgumentError, Option } from 'commander'
import { isBuiltInTaskSet } from '../../configuration/configuration-schema.ts'
import { detectableAmong } from '../../evaluation/compare-organisations.ts'
import { type EvaluatedOrganisation, evaluate } from '../../evaluation/evaluate.ts'
import { NothingEvaluatedError } from '../../evaluation/evaluate-organisation.ts'
import { disturbed } from '../../evaluation/interventions.ts'
import { organisationsOf } from '../../evaluation/named-organisation.ts'
import type { QuestionRecord } from '../../evaluation/organisation-report.ts'
import { type GraphSearch, searchedOrganisation, searchGraph } from '../../evaluation/search-graph.ts'
import { matchedRows, votedAnswers } from '../../experiments/measures/matched-tokens.ts'
import { addCosts } from '../../models/prices.ts'
import type { NamedOrganisation } from '../../organisations/open-organisation.ts'
import { isDriver } from '../../organisations/organisation.ts'
import { exitCode } from '../../problem.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { Spent } from '../../store/budget.ts'
import { writeWhole } from '../../store/durable-file.ts'
import { defaultRunsFolder, findRun, type RunFolder } from '../../store/run-folder.ts'
import { isQuestionFile } from '../../tasks/own/question-file.ts'
import { splitOf } from '../../tasks/task-set.ts'
import { beginUntrained } from '../../training/begin-untrained.ts'
import type { TransportRule } from '../../training/evaluate-graph.ts'
import { percent, tokens } from '../display/numbers.ts'
import type { ProgressFields } from '../display/progress.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { exitCodeNote, helpNotes } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { type Job, type JobOptions, openEncoder, openJob, reopenJob } from '../job.ts'
import { encoderOfRun, existingRun } from '../open-run.ts'
import {
  checkpointOption,
  concurrencyOption,
  drawSeedOption,
  runsDirOption,
} from '../options/common-options.ts'
import {
  addInterventionOptions,
  givenInterventions,
  type InterventionOptions,
} from '../options/intervention-options.ts'
import { addModelOptions } from '../options/model-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import {
  type GivenOrganisation,
  isGraphFile,
  openGraphFile,
  organisationOption,
  parseOrganisation,
} from '../options/organisation-option.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { addTaskSourceOptions, type TaskOptions, taskSource } from '../options/task-options.ts'
import { addBudgetOptions, type BudgetOptions, givenSettings } from '../options/training-options.ts'
import { afreshByWorkers, byWorkers, sharedAddress, workersOption } from '../options/workers-option.ts'
import { printAside, printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { startTelemetry } from '../telemetry.ts'
import { githubSummary, junitXml, writeGithubSummary } from '../views/ci-report.ts'
import { costText, evaluationLines, searchText } from '../views/evaluation-table.ts'
import { matchedTable } from '../views/matched-table.ts'

interface EvalOptions extends JobOptions, BudgetOptions, ReportOptions, TaskOptions, InterventionOptions {
  readonly name?: string
  readonly split: string
  readonly organisation?: readonly GivenOrganisation[]
  readonly limit?: number
  readonly seed?: number
  readonly threshold?: number
  readonly update?: number
  readonly junit?: string
  readonly githubSummary: boolean
  readonly workers?: boolean
  readonly matched: boolean
  readonly transportFailures: TransportRule
}

export function evalCommand(): Command {
  const command = new Command('eval')
    .description("Score a run's policy and other organisations on held-out questions.")
    .argument('<run>', 'name or folder of a run; or tasks, to evaluate organisations that need no training')
    .option('--name <run>', 'with tasks: the run to store the records in (default: <tasks>-organisations)')
    .option('--split <name>', 'questions to evaluate on', 'test')
    .addOption(organisationOption())
    .option('--limit <n>', 'only the first n questions', wholeNumber(1))
    .option('--matched', 'also self-consistency with as many votes as the same tokens buy', false)
    .addOption(drawSeedOption())
    .option('--threshold <x>', 'exit with 4 if the first score is below x, such as 0.6 or 60%', share)
    .option('--junit <file>', 'also write JUnit XML: a question without full score fails')
    .option('--github-summary', "also add the table to the GitHub job's summary", false)
    .addOption(
      new Option(
        '--transport-failures <rule>',
        'if the model is unreachable: stop, or score 0 as the paper does',
      )
        .choices(['stop', 'zero'])
        .default('stop'),
    )
    .addOption(checkpointOption())
    .addOption(workersOption())
    .addOption(concurrencyOption("the run's"))
    .addOption(runsDirOption())
  addInterventionOptions(command)
  addTaskSourceOptions(command)
  addBudgetOptions(command)
  addModelOptions(command)
  return addReportOptions(command)
    .addHelpText(
      'after',
      helpNotes({
        examples: [
          ['magic eval first', 'the trained policy'],
          ['magic eval first --organisation trained,searched', 'was the training worth it?'],
          ['magic eval first --organisation trained,untrained,direct,chain --limit 100'],
          ['magic eval first --organisation trained,llm-debate,dylan,self-consistency:answers=3'],
          ['magic eval first --organisation graph:examples/graph.json', 'your own graph'],
          ['magic eval first --organisation trained --corrupt-message 0.2 --seed 1'],
          ['magic eval synthetic --organisation direct,llm-debate', 'tasks, without a run'],
          ['magic eval first --threshold 0.7 --max-cost 2', 'for CI: exits with 4 below 70 %'],
          ['magic eval first --junit scores.xml --github-summary', 'for CI: test report and summary'],
        ],
        notes: [
          'Every call is new; nothing is reused from training. A question without a valid answer scores 0.',
          '`searched` is the best fixed graph that successive halving finds on the training questions, with as many graph evaluations as the training paid for. It costs as much as the training did, minus what the ledger already has. `most-probable` takes the likeliest choice at every step. `shuffled` gives each question the graph built for another. `atomic-at-use` and `group-at-use` restrict the trained policy to single agents or to groups; to train a policy that way, use `magic train --restriction`.',
          '`magic organisations` lists all systems and their options. Interventions disturb every organisation the same way for the same --seed; their results are stored separately.',
          'Caps hold for all organisations together, including the search. Records are stored with the run: repeat the command to continue after a cap or Ctrl-C, and compare them with `magic compare`.',
          exitCodeNote,
        ],
      }),
    )
    .action(evaluateRun)
}

function share(text: string): number {
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('Give a number from 0 to 1, or from 0% to 100%.')
  return value
}

async function evaluateRun(name: string, options: EvalOptions): Promise<void> {
  const { seed, update } = options
  // Fails now, before anything is spent.
  if (options.githubSummary) writeGithubSummary('')
  if (options.workers) sharedAddress()
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  const folder = findTasks(name, options)
    ? await folderFor(name, options, say)
    : existingRun(name, options.runsDir)
  const run = folder.readRecord()
  const signal = interruptSignal((text) => say(`${text} Repeat the command to continue.`))
  await using closing = new AsyncDisposableStack()
  closing.defer(await startTelemetry())
  const job = closing.adopt(await reopenJob(run, options, say), (one) => one.close())
  closing.defer(() => progress.end())
  const { set, model, execution, sandbox, tools, concurrency, isSimulated } = job
  const encoder = await encoderOfRun(run, say)
  const tasks = splitOf(set, options.split).tasks.slice(0, options.limit)
  const open = organisationsOf(folder, { encoder, seed, update, tasks })
  const budget = givenSettings(options, job.configuration).budget
  const usual = (folder.checkpoints().at(-1) ?? 0) === 0 ? 'direct' : 'trained'
  const given = options.organisation ?? [parseOrganisation(usual)]
  // Read now, because a broken file should fail before anything is spent.
  const library = folder.readLibrary(run)
  const fromFiles = new Map<string, NamedOrganisation>()
  for (const { name } of given) if (isGraphFile(name)) fromFiles.set(name, await openGraphFile(name, library))
  const interventions = givenInterventions(options, library)
  const evaluated: EvaluatedOrganisation[] = []
  /** By a search, and by an evaluation that ended before its first record. */
  const spentBeside: Spent[] = []
  const start = performance.now()
  const used = () => usedBy([...evaluated.map(({ spent }) => spent), ...spentBeside], start)
  const engine = { set, model, execution, sandbox, tools, concurrency, folder, signal }
  // With --workers, key and sandbox are needed here only for an organisation that cannot be run by workers.
  let own: Job | undefined
  const ownJob = async () => {
    if (!options.workers) return job
    own ??= closing.adopt(await reopenJob(run, { ...options, workers: false }, say), (one) => one.close())
    return own
  }
  const find = async () => {
    const label = `searching for a graph on training questions${isSimulated ? ' (simulated)' : ''}`
    const found = await searchGraph({
      ...{ ...engine, encoder, seed, budget: left(budget, used()) },
      ...(options.workers && { elsewhere: byWorkers(say) }),
      onStart: (total) => progress.start(total, label),
      onProgress: (done) => progress.update({ done }),
    })
    spentBeside.push(found.used)
    progress.end(found.ended === 'done' ? searchText(found.search, isSimulated) : undefined)
    return found.ended === 'done'
      ? { ...searchedOrganisation(found.search), search: found.search }
      : undefined
  }
  const queue = [...given]
  for (let place = 0; place < queue.length; place += 1) {
    const { name, options: wanted } = queue[place]!
    const named: (NamedOrganisation & { readonly search?: GraphSearch }) | undefined = isGraphFile(name)
      ? fromFiles.get(name)
      : name === 'searched'
        ? await find()
        : await open(name, wanted)
    if (named === undefined) break
    const { search } = named
    const { organisation, about, disturbance } = disturbed(named, interventions, seed ?? run.training.seed)
    const isRemote = options.workers === true && !isDriver(organisation)
    if (options.workers && !isRemote)
      say(
        `${organisation.name} decides step by step whom to ask, so it runs in this process and not on workers.`,
      )
    const means = isRemote ? job : await ownJob()
    const records: QuestionRecord[] = []
    const report = await evaluate({
      ...{ ...engine, model: means.model, sandbox: means.sandbox, organisation, about, search },
      ...{ split: options.split, tasks: options.limit, budget: left(budget, used()) },
      transportFailures: options.transportFailures,
      elsewhere: isRemote ? afreshByWorkers(job.source, say) : undefined,
      disturbance,
      onStart: (earlier, total) => {
        records.push(...earlier)
        const remark = `${isSimulated ? ' (simulated)' : ''}${earlier.length > 0 ? ', continued' : ''}`
        progress.start(total, `${organisation.name}${remark}`, earlier.length)
      },
      onRecord: (record, { done }) => {
        records.push(record)
        progress.update({ done, fields: runningFields(records, isSimulated) })
      },
    }).catch((error: unknown) => {
      // A cap or Ctrl-C before the first record is not a failure.
      const isCapped = Object.values(budget).some((cap) => cap !== undefined)
      if (!(error instanceof NothingEvaluatedError) || !(signal.aborted || isCapped)) throw error
      if (error.spent !== undefined) spentBeside.push(error.spent)
      return undefined
    })
    progress.end(
      report &&
        `${percent(report.score.mean)}, ${tokens(report.tokens.total)} tokens per question, ${costText(report.cost, isSimulated)}`,
    )
    if (report !== undefined) evaluated.push(report)
    if (report?.complete !== true) break
    if (options.matched && place === queue.length - 1) queue.push(...nextMatched(evaluated, queue))
  }
  const isComplete = evaluated.length === queue.length && evaluated.at(-1)!.complete
  const ended = isComplete ? 'done' : signal.aborted ? 'interrupted' : 'cap'
  const missing = queue.slice(evaluated.length).map(({ text }) => text)
  if (options.junit !== undefined) writeWhole(options.junit, junitXml(run.name, evaluated))
  if (options.githubSummary) writeGithubSummary(githubSummary(run.name, evaluated, isSimulated))
  process.exitCode = report({ evaluated, missing, ended, used: used() }, job, folder, options)
}

/** Self-consistency with two more answers, until it uses more tokens than the most expensive organisation. */
function nextMatched(
  evaluated: readonly EvaluatedOrganisation[],
  queue: readonly GivenOrganisation[],
): GivenOrganisation[] {
  const tokensOf = (isMatched: boolean) =>
    evaluated.filter((one) => (votedAnswers(one) !== undefined) === isMatched).map((one) => one.tokens.total)
  if (Math.max(0, ...tokensOf(true)) > Math.max(0, ...tokensOf(false))) return []
  const asked = evaluated.map((one) => votedAnswers(one) ?? -1)
  const answers = Math.max(...asked) + 2
  const next = parseOrganisation(`self-consistency:answers=${answers}`)
  return answers > mostAnswers || queue.some(({ text }) => text === next.text) ? [] : [next]
}

const mostAnswers = 99

/** True if the name means tasks (a file, or a built-in set) and no run is called that. */
function findTasks(name: string, { runsDir }: EvalOptions): boolean {
  if (findRun(name, runsDir ?? defaultRunsFolder()).exists) return false
  return isBuiltInTaskSet(name) || isQuestionFile(name)
}

/** The run that stores evaluations on these tasks: an existing one for the same tasks, or a new one. */
async function folderFor(
  name: string,
  options: EvalOptions,
  say: (text: string) => void,
): Promise<RunFolder> {
  const source = taskSource(name, options)
  const job = await openJob(source, options, say)
  try {
    const { set, configuration, runs } = job
    const folder = findRun(options.name ?? `${set.name}-organisations`.toLowerCase(), runs)
    if (folder.exists) {
      if (isDeepStrictEqual(folder.readRecord().source?.['tasks'], job.source['tasks'])) return folder
      throw new UsageError(
        `${folder.path} holds evaluations on other tasks, or on another selection of them. Choose another --name.`,
      )
    }
    const { execution, settings } = givenSettings(options, configuration)
    const encoder = configuration?.encoder ?? 'auto'
    return await beginUntrained({
      ...job,
      folder: folder.path,
      settings: { seed: settings.seed },
      execution: { ...(job.execution as object), ...execution },
      encoder: await openEncoder(encoder, say),
      source: { ...job.source, encoder },
    })
  } finally {
    await job.close()
  }
}

interface Outcome {
  readonly evaluated: readonly EvaluatedOrganisation[]
  readonly missing: readonly string[]
  readonly ended: 'done' | 'cap' | 'interrupted'
  readonly used: Required<BudgetSettings>
}

/** Prints the results and returns the exit code. */
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
      detectable: evaluated.length === 0 ? null : detectableAmong(evaluated),
      matched: matchedRows(evaluated.map((report) => ({ label: report.organisation, report, isSimulated }))),
      evaluations: evaluated.map(({ records: _, ...summary }) => summary),
    }),
    (screen) => {
      const rows = evaluated.map((report) => ({ label: report.organisation, report, isSimulated }))
      const matched = matchedRows(rows)
      return (
        rows.length > 0 && [
          ['', evaluationLines(rows, set.metric, screen)],
          matched.length > 0 && ['', 'At matched tokens:', tableLines(matchedTable(matched), screen)],
        ]
      )
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
      `Stopped at a cap${where}, after ${spent}; ${options.workers ? 'answers received are kept' : 'running questions were finished'}.${rest} Repeat the command to continue; raise the cap if needed.`,
    ended === 'interrupted' && `Interrupted${where}.${rest} Repeat the command to continue.`,
    passed === false &&
      `Below the threshold: ${first!.organisation} scored ${percent(first!.score.mean)}, required is ${percent(threshold!)}.`,
  ])
  if (ended !== 'done') return ended === 'cap' ? exitCode.capReached : exitCode.interrupted
  return passed === false ? exitCode.belowThreshold : exitCode.done
}

/** Score, tokens and cost so far. */
function runningFields(records: readonly QuestionRecord[], isSimulated: boolean): ProgressFields {
  const score = sum(records, (record) => record.score) / records.length
  const used = sum(records, ({ usage }) => usage.input + usage.output)
  const retries = sum(records, ({ usage }) => usage.attempts - usage.calls)
  const failed = records.filter(({ status }) => status !== 'answered').length
  const cost = records.map((record) => record.cost).reduce(addCosts)
  return {
    score: { text: `score ${percent(score)}`, value: score },
    tokens: { text: `${tokens(used)} tokens`, value: used },
    cost: { text: costText(cost, isSimulated), value: cost === 'unpriced' ? null : cost.amount },
    ...(retries > 0 && { retries: { text: counted(retries, 'retry', 'retries'), value: retries } }),
    ...(failed > 0 && { failed: { text: `${failed} failed`, value: failed } }),
  }
}

/** What this command used: all organisations, judges and the search. Earlier commands do not count. */
function usedBy(spent: readonly Spent[], start: number): Required<BudgetSettings> {
  return {
    cost: sum(spent, ({ cost }) => (cost === 'unpriced' ? 0 : cost.amount)),
    tokens: sum(spent, ({ input, output }) => input + output),
    calls: sum(spent, ({ calls }) => calls),
    minutes: (performance.now() - start) / 60_000,
  }
}

function sum<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((total, item) => total + amount(item), 0)
}

/** What is left of the caps. */
function left(budget: BudgetSettings, used: Required<BudgetSettings>): BudgetSettings {
  const caps = Object.entries(budget) as [keyof BudgetSettings, number | undefined][]
  return Object.fromEntries(caps.map(([name, cap]) => [name, cap && Math.max(0, cap - used[name])]))
}
