import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import { type EvaluatedOrganisation, evaluate } from '../../evaluation/evaluate.ts'
import { disturbed } from '../../evaluation/interventions.ts'
import { isRunOrganisation, organisationsOf } from '../../evaluation/named-organisation.ts'
import { searchEvaluations } from '../../evaluation/search-graph.ts'
import type { Library } from '../../library/library.ts'
import type { ChatModel, ModelIdentity } from '../../models/chat-model.ts'
import { addCosts, type Cost } from '../../models/prices.ts'
import type { GivenOptions, NamedOrganisation } from '../../organisations/open-organisation.ts'
import { openOrganisation } from '../../organisations/open-organisation.ts'
import { simulatedModelName } from '../../simulator/model/simulated-name.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { splitOf, type TaskSet } from '../../tasks/task-set.ts'
import { simulatedParts } from '../../training/estimate.ts'
import { tokens } from '../display/numbers.ts'
import { shownText } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { nextMatched } from '../evaluate-all.ts'
import { openTasksOfRun } from '../job.ts'
import { encoderOfRun } from '../open-run.ts'
import { givenInterventions } from '../options/intervention-options.ts'
import { type PoolSource, poolIdentities, poolSource } from '../options/model-pool.ts'
import { type GivenOrganisation, isGraphFile, openGraphFile } from '../options/organisation-option.ts'
import { openTasks, taskSource } from '../options/task-options.ts'
import { givenSettings } from '../options/training-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { costText } from '../views/evaluation-table.ts'
import { configuredPrices, modelIdentity } from './estimate.ts'
import type { EvalOptions } from './eval.ts'

/** Questions per organisation that are run on the simulated model. */
const sampledQuestions = 10

interface PlannedEvaluation {
  readonly organisation: string
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: Cost
}

/**
 * Tells what `magic eval` would take, by running each organisation on a few of the questions on the simulated model. Stores
 * nothing and needs no key.
 */
export async function tellEvaluationPlan(
  place: RunFolder | string,
  given: readonly GivenOrganisation[],
  options: EvalOptions,
): Promise<void> {
  const { set, identity, pool, execution, open, library, seed } = await opened(place, options)
  const questions = splitOf(set, options.split).tasks.slice(0, options.limit).length
  const sampled = Math.min(sampledQuestions, questions)
  const sample = (one: NamedOrganisation, split: string, tasks: number) => {
    const parts = simulatedParts(set, split, {})
    const named = (as: ModelIdentity): ChatModel => ({
      identity: as,
      ask: (request, signal) => parts.model.ask(request, signal),
    })
    const models = pool && Object.fromEntries(Object.entries(pool).map(([name, as]) => [name, named(as)]))
    return evaluate({
      ...{ set: parts.set, model: named(identity), models, execution, sandbox: null, concurrency: 1000 },
      ...{ ...one, split, tasks },
    })
  }
  const plannedSearch = async (one: NamedOrganisation) => {
    const training = splitOf(set, 'train').tasks.length
    const tried = Math.min(sampledQuestions, training)
    const report = await sample(one, 'train', tried)
    const search = { ...report, organisation: 'searched, its search at most' }
    return scaled(search, searchEvaluations(place as RunFolder, training) / tried)
  }
  const interventions = givenInterventions(options, library)
  const queue = [...given]
  const evaluated: EvaluatedOrganisation[] = []
  const planned: PlannedEvaluation[] = []
  for (let at = 0; at < queue.length; at += 1) {
    const { name, options: wanted } = queue[at]!
    const isSearched = name === 'searched'
    // A search tries graphs of the untrained policy, so these stand for them and for the one it finds.
    const one = isGraphFile(name)
      ? await openGraphFile(name, library)
      : await open(isSearched ? 'untrained' : name, wanted)
    if (isSearched) planned.push(await plannedSearch(one))
    const report = await sample(disturbed(one, interventions, seed), options.split, sampled)
    evaluated.push(report)
    planned.push(scaled(isSearched ? { ...report, organisation: name } : report, questions / sampled))
    if (options.matched && at === queue.length - 1) queue.push(...nextMatched(evaluated, queue))
  }
  const total = planned.reduce(added)
  const model = `${identity.provider}/${identity.model}`
  const isSimulated = identity.model === simulatedModelName
  printResult(
    options,
    {
      ...{ tasks: set.name, split: options.split, questions, sampled, model },
      ...{ lengths: 'simulated', organisations: planned, total },
    },
    (screen) => {
      const row = ({ organisation, calls, inputTokens, outputTokens, cost }: PlannedEvaluation) => [
        ...[organisation, tokens(calls), tokens(inputTokens), tokens(outputTokens)],
        costText(cost, isSimulated),
      ]
      const rows = planned.length > 1 ? [...planned, total].map(row) : planned.map(row)
      return [
        screen.paint('bold', shownText(`Evaluating on ${counted(questions, 'question')} of ${set.name}`)),
        '',
        tableLines({ columns: ['organisation', 'calls', 'tokens in', 'tokens out', 'cost'], rows }, screen),
        '',
        `Based on ${counted(sampled, 'question')} per organisation, run on the simulated model. An interrupted evaluation continues and takes less. A model that writes longer replies costs more.`,
        given.some(({ name }) => name === 'searched') &&
          "The search takes less where the run's ledger already has a graph's result.",
      ]
    },
  )
}

interface Opened {
  readonly set: TaskSet
  readonly library: Library
  readonly seed: number
  readonly identity: ModelIdentity
  readonly pool: Readonly<Record<string, ModelIdentity>> | undefined
  readonly execution: object
  open(name: string, options: GivenOptions): Promise<NamedOrganisation>
}

/** The given tasks or those of a run, with what is known about the model without its key. */
async function opened(place: RunFolder | string, options: EvalOptions): Promise<Opened> {
  if (typeof place !== 'string') return openedRun(place, options)
  const { set, configuration } = await openTasks(taskSource(place, options))
  const { settings, execution } = givenSettings(options, configuration)
  const { library, profile } = set
  const seed = options.seed ?? settings.seed ?? 42
  const means = { library, profile, seed, encoder: async () => lexicalEncoder, runs: options.runsDir }
  return {
    ...{ set, library, seed, identity: modelIdentity(options, configuration) },
    pool: await poolIdentities(poolSource(options, configuration?.models)),
    execution: { ...configuration?.execution, ...execution, prices: configuredPrices(configuration) ?? {} },
    async open(name, given) {
      if (isRunOrganisation(name))
        throw new UsageError(`'${name}' needs a run. Train one first, or leave it out.`)
      return openOrganisation(name, means, given)
    },
  }
}

async function openedRun(folder: RunFolder, options: EvalOptions): Promise<Opened> {
  const run = folder.readRecord()
  const { set } = await openTasksOfRun(folder)
  const seed = options.seed ?? run.training.seed
  const tasks = splitOf(set, options.split).tasks.slice(0, options.limit)
  const encoder = await encoderOfRun(run, () => {})
  const { seed: givenSeed, update, runsDir: runs } = options
  const open = organisationsOf(folder, { encoder, seed: givenSeed, update, tasks, runs })
  const pool = poolSource(options, undefined) ?? (run.source?.['models'] as unknown as PoolSource | undefined)
  return {
    ...{ set, library: folder.readLibrary(run), seed },
    identity: options.model === undefined ? (run.model as ModelIdentity) : modelIdentity(options, undefined),
    pool: await poolIdentities(pool),
    execution: run.execution,
    open,
  }
}

function scaled({ organisation, usage, cost }: EvaluatedOrganisation, factor: number): PlannedEvaluation {
  return {
    organisation,
    calls: Math.round(usage.calls * factor),
    inputTokens: Math.round(usage.input * factor),
    outputTokens: Math.round(usage.output * factor),
    cost: cost === 'unpriced' ? cost : { ...cost, amount: cost.amount * factor },
  }
}

function added(one: PlannedEvaluation, other: PlannedEvaluation): PlannedEvaluation {
  return {
    organisation: 'total',
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: addCosts(one.cost, other.cost),
  }
}
