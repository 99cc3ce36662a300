import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { type EvaluatedOrganisation, evaluate } from '../evaluation/evaluate.ts'
import { NothingEvaluatedError } from '../evaluation/evaluate-organisation.ts'
import { disturbed, type Interventions } from '../evaluation/interventions.ts'
import { organisationsOf } from '../evaluation/named-organisation.ts'
import type { QuestionRecord } from '../evaluation/organisation-report.ts'
import { type GraphSearch, searchedOrganisation, searchGraph } from '../evaluation/search-graph.ts'
import { votedAnswers } from '../experiments/measures/matched-tokens.ts'
import { addCosts } from '../models/prices.ts'
import type { NamedOrganisation } from '../organisations/open-organisation.ts'
import { isDriver } from '../organisations/organisation.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import { capsLeft, type Spent, usedBy } from '../store/budget.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { splitOf } from '../tasks/task-set.ts'
import type { TransportRule } from '../training/evaluate-graph.ts'
import { percent, tokens } from './display/numbers.ts'
import type { Progress, ProgressFields } from './display/progress.ts'
import { counted } from './display/terminal-text.ts'
import type { Job } from './job.ts'
import { type GivenOrganisation, parseOrganisation } from './options/organisation-option.ts'
import { afreshByWorkers, byWorkers } from './options/workers-option.ts'
import { costText, searchText } from './views/evaluation-table.ts'

interface Evaluations {
  readonly job: Job
  /** With `workers`: a job with key and sandbox, for organisations that workers cannot run. */
  openOwnJob(): Promise<Job>
  readonly folder: RunFolder
  readonly encoder: FrozenTextEncoder
  readonly organisations: readonly GivenOrganisation[]
  /** Fixed graphs from files, by the name they were given with. */
  readonly graphs: ReadonlyMap<string, NamedOrganisation>
  readonly interventions: Interventions
  readonly budget: BudgetSettings
  readonly progress: Progress
  readonly signal: AbortSignal
  readonly options: {
    readonly split: string
    readonly limit?: number
    readonly seed?: number
    readonly update?: number
    readonly runsDir?: string
    readonly matched: boolean
    readonly workers?: boolean
    readonly transportFailures: TransportRule
  }
}

export interface EvaluationsOutcome {
  readonly evaluated: readonly EvaluatedOrganisation[]
  /** Organisations that a cap or an interruption left out. */
  readonly missing: readonly string[]
  readonly ended: 'done' | 'cap' | 'interrupted'
  readonly used: Required<BudgetSettings>
}

/** Evaluates organisations one after another on the same questions, under common caps, and shows progress. */
export async function evaluateAll(evaluations: Evaluations): Promise<EvaluationsOutcome> {
  const { job, folder, encoder, graphs, interventions, budget, progress, signal, options } = evaluations
  const { set, models, execution, tools, concurrency, isSimulated } = job
  const { split, limit, seed, update, transportFailures } = options
  const engine = { set, models, execution, tools, concurrency, folder, signal }
  const mark = isSimulated ? ' (simulated)' : ''
  const open = organisationsOf(folder, {
    ...{ encoder, seed, update, runs: options.runsDir },
    tasks: splitOf(set, split).tasks.slice(0, limit),
  })
  const evaluated: EvaluatedOrganisation[] = []
  /** By a search, and by an evaluation that ended before its first record. */
  const spentBeside: Spent[] = []
  const start = performance.now()
  /** By all organisations, judges and the search. Earlier commands do not count. */
  const used = () => ({
    ...usedBy([...evaluated.map(({ spent }) => spent), ...spentBeside]),
    minutes: (performance.now() - start) / 60_000,
  })
  const say = (text: string) => progress.note(text)
  let own: Promise<Job> | undefined

  /** Undefined if a cap or an interruption stopped the search. */
  const search = async () => {
    const found = await searchGraph({
      ...{ ...engine, model: job.model, sandbox: job.sandbox },
      ...{ encoder, seed, budget: capsLeft(budget, used()) },
      ...(options.workers && { elsewhere: byWorkers(say) }),
      onStart: (total) => progress.start(total, `searching for a graph on training questions${mark}`),
      onProgress: (done) => progress.update({ done }),
    })
    spentBeside.push(found.used)
    if (found.ended !== 'done') return progress.end()
    progress.end(searchText(found.search, isSimulated))
    return { ...searchedOrganisation(found.search), search: found.search }
  }

  /** Undefined if a cap or an interruption came before the first record. */
  const evaluateOne = async (named: NamedOrganisation & { readonly search?: GraphSearch }) => {
    const { organisation, about, disturbance } = disturbed(
      named,
      interventions,
      seed ?? folder.readRecord().training.seed,
    )
    const isRemote = options.workers === true && !isDriver(organisation)
    if (options.workers && !isRemote) {
      say(
        `${organisation.name} decides step by step whom to ask, so it runs in this process, not on workers.`,
      )
      own ??= evaluations.openOwnJob()
    }
    const { model, models: pool, sandbox } = isRemote ? job : ((await own) ?? job)
    const records: QuestionRecord[] = []
    const report = await evaluate({
      ...{ ...engine, model, models: pool, sandbox, organisation, about, disturbance, search: named.search },
      ...{ split, tasks: limit, budget: capsLeft(budget, used()), transportFailures },
      elsewhere: isRemote ? afreshByWorkers(job.source, say) : undefined,
      onStart: (earlier, total) => {
        records.push(...earlier)
        const label = `${organisation.name}${mark}${earlier.length > 0 ? ', continued' : ''}`
        progress.start(total, label, earlier.length)
      },
      onRecord: (record, { done }) => {
        records.push(record)
        progress.update({ done, fields: runningFields(records, isSimulated) })
      },
    }).catch((error: unknown) => {
      const isCapped = Object.values(budget).some((cap) => cap !== undefined)
      if (!(error instanceof NothingEvaluatedError) || !(signal.aborted || isCapped)) throw error
      if (error.spent !== undefined) spentBeside.push(error.spent)
      return undefined
    })
    progress.end(
      report &&
        `${percent(report.score.mean)}, ${tokens(report.tokens.total)} tokens per question, ${costText(report.cost, isSimulated)}`,
    )
    return report
  }

  const queue = [...evaluations.organisations]
  for (let place = 0; place < queue.length; place += 1) {
    const { name, options: wanted } = queue[place]!
    const named = graphs.get(name) ?? (name === 'searched' ? await search() : await open(name, wanted))
    const report = named && (await evaluateOne(named))
    if (report !== undefined) evaluated.push(report)
    if (report?.complete !== true) break
    if (options.matched && place === queue.length - 1) queue.push(...nextMatched(evaluated, queue))
  }
  const isComplete = evaluated.length === queue.length && evaluated.at(-1)!.complete
  return {
    evaluated,
    missing: queue.slice(evaluated.length).map(({ text }) => text),
    ended: isComplete ? 'done' : signal.aborted ? 'interrupted' : 'cap',
    used: used(),
  }
}

const mostAnswers = 99

/** Self-consistency with two more answers, until it uses more tokens than the most expensive organisation. */
export function nextMatched(
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

function sum<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((total, item) => total + amount(item), 0)
}
