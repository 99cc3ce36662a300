import { join } from 'node:path'
import { drawCandidates } from '../../learning/search/candidates.ts'
import {
  demonstrationGroup,
  imitationDropout,
  imitationWeights,
} from '../../learning/search/demonstration.ts'
import { embedQuestions } from '../../learning/training-questions.ts'
import { untrainedLearner } from '../../learning/untrained-policy.ts'
import { deriveRandom } from '../../numerics/random.ts'
import type { GivenTrainingSettings } from '../../settings/training.ts'
import { Budget } from '../../store/budget.ts'
import { LineFile, readLines } from '../../store/durable-file.ts'
import { assertSameRun } from '../../store/same-run.ts'
import { beginRun, claimFolder, stateOf } from '../../training/open-run.ts'
import { type PreparedRun, prepareRun } from '../../training/prepare-run.ts'
import { openRunFiles } from '../../training/run-files.ts'
import { openEvaluator } from '../../training/training-evaluator.ts'
import { ExperimentStopped, type Laboratory, type OpenedSet } from '../laboratory.ts'
import type { RouteBudget, RouteResult } from './rl-route.ts'
import { SearchRoute } from './route.ts'

/** A line of `search.jsonl`: one batch and its cost. */
interface BatchLine {
  readonly batch: number
  readonly question: string
  /** Slots without a candidate. */
  readonly leftOut: number
  readonly best: string | null
  readonly asked: readonly string[]
  readonly cost: number
  readonly spent: number
  readonly stages: readonly { readonly stage: number; readonly updates: number }[]
}

export interface SftResult extends RouteResult {
  /** Supervised steps over all stages. */
  readonly updates: number
  /** Slots without a candidate, over all batches. */
  readonly leftOut: number
}

/**
 * Search-then-SFT. An interrupted route is replayed from its start: all scores are in its ledger, so only the batch
 * that was under way makes calls, and the weights come out the same.
 */
export async function sftRoute(
  lab: Laboratory,
  name: string,
  opened: OpenedSet,
  given: GivenTrainingSettings,
  budgetOfRoute: RouteBudget,
): Promise<SftResult> {
  const { engine, encoder } = lab.options
  const folder = lab.run(name)
  // The run's record shows the actual loss: no KL and no entropy.
  const settings = {
    ...given,
    divergenceWeight: imitationWeights.divergence,
    entropyWeight: imitationWeights.entropy,
  }
  const isResumed = folder.exists
  using _ = await claimFolder(folder, isResumed)
  const prepared = await prepareRun(folder, {
    ...engine,
    ...opened,
    model: await lab.options.model(opened.set),
    encoder,
    settings,
    budget: lab.left(),
    folder: folder.path,
    resume: isResumed,
  })
  if (isResumed) assertSameRun(folder.readRecord(), prepared.record)
  else await beginRun(prepared, { ledger: budgetOfRoute.ledger })
  return await search(lab, prepared, budgetOfRoute)
}

async function search(
  lab: Laboratory,
  prepared: PreparedRun,
  { stages, unit }: RouteBudget,
): Promise<SftResult> {
  const { folder, parts, price, record, encoder } = prepared
  const { training } = record
  const { seed, maxUnits, maxDepth } = training
  const kept = new Set([0])
  await using files = await openRunFiles(folder, 0, price, { kept })
  const linesFile = join(folder.path, 'search.jsonl')
  const earlier = readLines(linesFile) as BatchLine[]
  using lines = new LineFile(linesFile)
  const budget = new Budget(record.budget, price, files.journal)
  const { signal } = lab.options
  const evaluator = openEvaluator({
    parts: { ...parts, meter: budget },
    ledger: files.ledger,
    requestReuse: training.requestReuse,
    signal,
  })
  const learner = await untrainedLearner(parts.set.library, training, encoder)
  if (folder.checkpoints().length === 0) await files.writeCheckpoint(stateOf(prepared, learner, 0))
  const { queries } = await embedQuestions(parts.set, encoder)
  const space = { roles: parts.set.library.space, restriction: 'mixed', maxUnits, maxDepth } as const
  let before = earlier.at(-1)?.spent ?? 0
  let updates = 0
  const reached: RouteResult['stages'][number][] = []
  const emptySlots: number[] = []
  const route: SearchRoute = new SearchRoute({
    questions: queries.length,
    stages,
    candidates(question, batch) {
      const visit = Math.floor(batch / queries.length)
      const random = deriveRandom(seed, 'search', queries[question]!.id, visit)
      const { graphs, leftOut } = drawCandidates(space, random)
      emptySlots.push(leftOut)
      return graphs
    },
    score: async (graph, question) => (await evaluator.evaluate(graph, queries[question]!.id)).score,
    cost() {
      const known = earlier[route.account.batches]
      if (known !== undefined) return known.cost
      const now = unit.amount(budget.spent)
      const cost = now - before
      before = now
      return cost
    },
  })
  try {
    for (;;) {
      if (signal?.aborted === true) throw new ExperimentStopped('interrupted')
      const isReplayed = route.account.batches < earlier.length
      if (!isReplayed && budget.reached() !== undefined) throw new ExperimentStopped('cap')
      const next = await route.next()
      if (next === undefined) break
      const { batch } = next
      const told: BatchLine['stages'][number][] = []
      for (const { epoch, number, ...stage } of next.stages) {
        for (const { question, graph } of epoch) {
          const { id, embedding } = queries[question]!
          const dropout = imitationDropout(learner.policy, { seed, stage: number, question: id })
          learner.update(demonstrationGroup(embedding, graph.graph, dropout))
          updates += 1
        }
        kept.add(updates)
        if (!folder.checkpoints().includes(updates))
          await files.writeCheckpoint(stateOf(prepared, learner, updates))
        reached.push({ ...stage, update: updates })
        told.push({ stage: stage.stage, updates })
      }
      if (!isReplayed)
        lines.append({
          batch: batch.batch,
          question: queries[batch.question]!.id,
          leftOut: emptySlots.at(-1)!,
          best: batch.best?.key ?? null,
          asked: batch.asked.map(({ key }) => key),
          cost: batch.cost,
          spent: before,
          stages: told,
        } satisfies BatchLine)
      lab.options.onStep?.(
        `${parts.set.name}: search`,
        Math.round(stages.at(-1)!),
        Math.round(route.account.spent),
      )
    }
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) throw new ExperimentStopped('interrupted')
    throw error
  } finally {
    await evaluator.ended()
  }
  lab.book(budget.spent)
  const leftOut = emptySlots.reduce((sum, count) => sum + count, 0)
  const { notReached, end, batches, spent: booked } = route.account
  return { folder, stages: reached, notReached, end: end!, batches, spent: booked, updates, leftOut }
}
