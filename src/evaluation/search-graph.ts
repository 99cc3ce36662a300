// The baseline for a training: one fixed graph, found by search with as many graph evaluations as the training paid
// for.
import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import {
  evaluationsOf,
  type HalvingRound,
  halvingRounds,
  successiveHalving,
} from '../learning/successive-halving.ts'
import { embedQuestions, type TrainingQuestions } from '../learning/training-questions.ts'
import { policyOptions } from '../learning/untrained-policy.ts'
import type { GraphScore } from '../learning/update.ts'
import { type RunPrice, runPriceOf } from '../models/prices.ts'
import type { Meter } from '../models/retry.ts'
import { deriveRandom } from '../numerics/random.ts'
import type { NamedOrganisation } from '../organisations/open-organisation.ts'
import { constructGraphs } from '../policy/construction.ts'
import { ConstructionPolicy } from '../policy/policy.ts'
import { isCapReached, validated } from '../problem.ts'
import { budgetSettings } from '../settings/budget.ts'
import type { TrainingSettings } from '../settings/training.ts'
import { Budget, type Spent } from '../store/budget.ts'
import { CallJournal } from '../store/call-journal.ts'
import { RunError, type RunFolder, type RunRecord } from '../store/run-folder.ts'
import { ledgerPlace, openRunLedger } from '../store/run-ledger.ts'
import { carryOverSpending } from '../training/carry-over-spending.ts'
import { claimFolder } from '../training/open-run.ts'
import { openParts } from '../training/prepare-run.ts'
import { checkPrice } from '../training/self-check.ts'
import type { EngineOptions, OpenElsewhere } from '../training/train-options.ts'
import { openEvaluator } from '../training/training-evaluator.ts'
import { fixedOrganisation } from './baseline-organisations.ts'
import { runOverview } from './run-overview.ts'
import { type LoadOptions, loadPolicy } from './trained-policy.ts'

export interface SearchOptions extends EngineOptions, Pick<LoadOptions, 'encoder'> {
  readonly folder: RunFolder
  /** Determines the graphs and the order of the questions. Default: the run's seed. */
  readonly seed?: number
  /** Lets other processes run the graphs. */
  readonly elsewhere?: OpenElsewhere
  /** Called first, with the total number of evaluations. */
  readonly onStart?: (total: number) => void
  readonly onProgress?: (done: number) => void
}

/** The result of a search and its cost. */
export interface GraphSearch {
  readonly seed: number
  readonly graph: { readonly units: readonly Unit[] }
  /** Number of graphs tried. */
  readonly graphs: number
  /** Training questions the finalists were compared on. */
  readonly questions: number
  /** Graph evaluations requested; at most as many as the training paid for. */
  readonly evaluations: number
  /** Means per training question for the graph found. */
  readonly score: number
  readonly tokens: number
  /** What the search paid for, over all resumes; the rest was in the run's ledger. */
  readonly spent: Spent
}

/** `used`: what this call has spent, even if it did not finish. */
export type SearchOutcome =
  | { readonly ended: 'done'; readonly used: Spent; readonly search: GraphSearch }
  | { readonly ended: 'cap' | 'interrupted'; readonly used: Spent }

class SearchStopped extends Error {}

/**
 * Finds the best fixed graph on the training questions by successive halving over graphs of the untrained policy,
 * with as many evaluations as the training paid for. It uses the run's ledger: known evaluations are free, and a
 * search that was stopped by a cap, a signal or a kill continues where it was.
 */
export async function searchGraph(options: SearchOptions): Promise<SearchOutcome> {
  const { folder, signal, onProgress } = options
  await using closing = new AsyncDisposableStack()
  closing.use(await claimFolder(folder, true))
  const { record, evaluations: paid } = runOverview(folder)
  const { seed = record.training.seed } = options
  const parts = await openParts(options, record.tools)
  const caps = validated(budgetSettings, options.budget ?? {}, 'budget')
  checkPrice(parts, caps)
  const untrained = await loadPolicy(folder, { encoder: options.encoder, update: 0 })
  const questions = await embedQuestions(parts.set, untrained.encoder)
  const planned = plannedRounds(record, paid, questions.queries.length)
  const { training } = record
  const policy =
    untrained.policy ??
    ConstructionPolicy.initialize(
      await policyOptions(untrained.library, training, untrained.encoder),
      training.seed,
    )
  const graphs = drawGraphs(policy, training, questions, planned[0]!.candidates, seed)
  const rounds = planned.map((round) => ({
    ...round,
    candidates: Math.min(round.candidates, graphs.length),
  }))
  const order = inRandomOrder(
    questions.queries.map(({ id }) => id),
    seed,
  )

  const price = runPriceOf(parts)
  const ledger = closing.use(await openRunLedger(folder))
  // Done now, since later it could not be told apart from the search's own spending.
  await carryOverSpending(folder, ledger)
  const identity = [seed, paid, questions.dataVersion, parts.model.identity]
  const name = hash('sha256', JSON.stringify(identity)).slice(0, 16)
  const journal = closing.use(openJournal(folder, price, name))
  const elsewhere = await options.elsewhere?.({
    parts,
    ledger,
    source: record.source,
    place: ledgerPlace(folder),
    caps,
    search: name,
  })
  closing.defer(() => elsewhere?.close())
  const budget = new Budget(caps, price, undefined, elsewhere?.spent)
  const overall = new Budget({}, price, journal, elsewhere?.spentInAll)
  const evaluator = openEvaluator({
    parts: { ...parts, meter: both(budget, overall) },
    make: elsewhere?.make,
    ledger,
    requestReuse: record.training.requestReuse,
    signal,
  })
  closing.defer(() => evaluator.ended())

  const total = evaluationsOf(rounds)
  options.onStart?.(total)
  let done = 0
  const evaluate = async (pairs: readonly (readonly [AgentGraph, string])[]): Promise<GraphScore[]> => {
    const scores: GraphScore[] = []
    const waiting = pairs.entries()
    let isStopped = false
    const work = async () => {
      for (const [place, [graph, question]] of waiting) {
        isStopped ||= budget.exhausted()
        if (isStopped) return
        scores[place] = await evaluator.evaluate(graph, question)
        done += 1
        onProgress?.(done)
      }
    }
    const width = elsewhere === undefined ? 4 * parts.limit.limit : pairs.length
    await Promise.all(Array.from({ length: width }, work))
    if (isStopped) throw new SearchStopped()
    return scores
  }
  try {
    signal?.throwIfAborted()
    const { candidate, score, tokens } = await successiveHalving(graphs, order, rounds, evaluate)
    await elsewhere?.refresh()
    const count = order.length
    const search: GraphSearch = {
      seed,
      graph: candidate.toJSON(),
      graphs: graphs.length,
      questions: count,
      evaluations: total,
      score: score / count,
      tokens: tokens / count,
      spent: overall.spent,
    }
    return { ended: 'done', used: budget.spent, search }
  } catch (error) {
    await evaluator.ended()
    await elsewhere?.refresh()
    if (error instanceof SearchStopped || isCapReached(error)) return { ended: 'cap', used: budget.spent }
    if (signal?.aborted === true && error === signal.reason)
      return { ended: 'interrupted', used: budget.spent }
    throw error
  }
}

/** The number of evaluations a search on so many training questions takes at most. Calls no model. */
export function searchEvaluations(folder: RunFolder, questions: number): number {
  const { record, evaluations } = runOverview(folder)
  return evaluationsOf(plannedRounds(record, evaluations, questions))
}

function plannedRounds({ name }: RunRecord, paid: number, questions: number): HalvingRound[] {
  const rounds = halvingRounds(questions, paid)
  if (rounds.length > 0) return rounds
  throw new RunError(
    `The training of ${name} has paid for ${paid} graph evaluations: too few to compare even two graphs on its ${questions} questions. Train it further, or leave out 'searched'.`,
  )
}

/** The graph found, as an organisation. */
export function searchedOrganisation({
  seed,
  graph,
  graphs,
  questions,
  evaluations,
}: GraphSearch): NamedOrganisation {
  const found = AgentGraph.from(graph)
  const description = `The best of ${graphs} graphs on the ${questions} training questions, by ${evaluations} evaluations.`
  const organisation = fixedOrganisation('searched', description, found)
  return { organisation, about: { seed, evaluations, graph: graphKey(found).slice(0, 12) } }
}

/** The empty graph and distinct graphs drawn by the untrained policy; fewer than `count` if there are no more. */
function drawGraphs(
  policy: ConstructionPolicy,
  { restriction, temperatureEnd: temperature }: TrainingSettings,
  { queries }: TrainingQuestions,
  count: number,
  seed: number,
): AgentGraph[] {
  const found = new Map([[graphKey(AgentGraph.empty), AgentGraph.empty]])
  for (let drawn = 0; found.size < count && drawn < 20 * count; drawn += count) {
    const jobs = Array.from({ length: count }, (_, place) => {
      const query = queries[(drawn + place) % queries.length]!.embedding
      const random = deriveRandom(seed, 'searched', drawn + place)
      return { query, random, restriction, temperature, dropout: false }
    })
    for (const { graph } of constructGraphs(policy, jobs))
      if (found.size < count) found.set(graphKey(graph), graph)
  }
  return [...found.values()]
}

/** Ordered by hash, so that the data's order cannot favour a graph. */
function inRandomOrder(ids: readonly string[], seed: number): string[] {
  const places = ids.map((id) => ({ id, key: hash('sha256', JSON.stringify([seed, 'searched', id])) }))
  return places.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ id }) => id)
}

/** Every search has its own journal of calls: they do not count against the training's caps. */
function openJournal(folder: RunFolder, price: RunPrice | undefined, name: string): CallJournal {
  mkdirSync(folder.searchesFolder, { recursive: true })
  return new CallJournal(join(folder.searchesFolder, `${name}.calls.jsonl`), price)
}

function both(one: Meter, other: Meter): Meter {
  return {
    reserve(request, model) {
      const settles = [one.reserve(request, model), other.reserve(request, model)]
      return (reply) => {
        for (const settle of settles) settle(reply)
      }
    },
  }
}
