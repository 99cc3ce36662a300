import { deriveRandom } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import {
  evaluationsFor,
  rewardsOf,
  type TrainingSettings,
  updatesOf,
  valueRounds,
} from '../../settings/training.ts'
import type { PolicyLearner } from '../policy-learner.ts'
import { actionsTo } from '../search/demonstration.ts'
import { creditTrajectory } from '../trajectory.ts'
import type { GraphScore, ScoreGraph, TrainedUpdate } from '../update.ts'
import { chooseGraphs } from './graph-choice.ts'
import { imitate } from './imitation.ts'
import { questionCurve } from './question-curve.ts'
import type { Look } from './value-model.ts'
import type { ValueQuestions } from './value-questions.ts'
import { type Pair, proposeLooks } from './value-search.ts'

export interface ValueUpdateOptions {
  readonly settings: TrainingSettings
  readonly questions: ValueQuestions
  /** The looks of each earlier update. */
  readonly rounds: readonly (readonly Look[])[]
  /** Looks of earlier runs. */
  readonly known?: readonly Look[]
  readonly evaluate: ScoreGraph
  /** Concurrent evaluations. */
  readonly width: number
  /** Checked before each evaluation. Once false, the update is abandoned; finished evaluations stay in the ledger. */
  readonly mayContinue: () => boolean
}

/**
 * Lessons for the policy after the last round, the one before, and the others. Rounded up to whole passes, with a
 * minimum.
 */
const lessonsAfter = { last: 2000, lastButOne: 400, others: 64 } as const
const leastPasses = 4

/**
 * One round of value learning: look where values are uncertain and good graphs are likely, update the values from
 * every look so far, and let the policy imitate the resulting choice for each question. Undefined if it was
 * abandoned.
 */
export async function updateByValues(learner: PolicyLearner, options: ValueUpdateOptions) {
  const { settings, questions, rounds, known = [] } = options
  const { seed, restriction, patience } = settings
  const update = rounds.length
  const { queries, traits } = questions
  const tokenWorth = settings.pointsPer1000Tokens / 100_000
  const pairs = proposeLooks(rounds, {
    seed,
    patience,
    tokenWorth,
    known,
    traits: traits[0]!,
    maxTokens: maxTokens([...known, ...rounds.flat()], settings),
    evaluations: evaluationsFor(settings, queries.length),
    space: learner.policy.space(restriction),
  })
  const scores = await evaluateAll(pairs, options)
  if (scores === undefined) return undefined

  const looks = pairs.map((pair, index) => lookOf(pair, scores[index]!))
  const all = [...known, ...rounds.flat(), ...looks]
  const left = updatesOf(settings, queries.length) - 1 - update
  const choice = chooseGraphs(all, {
    tokenWorth,
    traits,
    maxTokens: maxTokens(all, settings),
    fixedOnly: left >= valueRounds.confirm,
  })
  const random = deriveRandom(seed, 'imitation', update)
  const lessons = queries.map(({ embedding }, index) => ({ query: embedding, graph: choice.graphs[index]! }))
  const wanted = left === 0 ? lessonsAfter.last : left === 1 ? lessonsAfter.lastButOne : lessonsAfter.others
  const passes = Math.max(left === 0 ? leastPasses : 1, Math.ceil(wanted / lessons.length))
  const some = left > 1 ? shuffled(lessons, random).slice(0, wanted) : lessons
  const report = imitate(learner, some, { passes, restriction, random })
  const trained: TrainedUpdate = {
    update,
    temperature: 1,
    report,
    advantages: [],
    evaluations: pairs.length,
    trajectories: looks.map((look, index) =>
      trajectoryOf(look, queries[look.question]!.id, scores[index]!, settings),
    ),
    chosen: queries.map(({ id }, index) => ({ task: id, graph: choice.graphs[index]! })),
    gain: choice.gain,
    curve: left === 0 ? questionCurve(all, traits[0]!, tokenWorth) : undefined,
  }
  return { trained, looks }
}

/** Evaluates all pairs, `width` at a time. */
async function evaluateAll(
  pairs: readonly Pair[],
  options: ValueUpdateOptions,
): Promise<GraphScore[] | undefined> {
  const { questions, evaluate, width, mayContinue } = options
  const scores: GraphScore[] = []
  let next = 0
  const work = async () => {
    while (next < pairs.length && mayContinue()) {
      const index = next
      next += 1
      const { graph, question } = pairs[index]!
      scores[index] = await evaluate(graph, questions.queries[question]!.id)
    }
  }
  await Promise.all(Array.from({ length: width }, work))
  return next < pairs.length ? undefined : scores
}

function lookOf({ graph, question }: Pair, { score, usage }: GraphScore): Look {
  return { graph, question, score, tokens: usage?.tokens ?? 0 }
}

/** A look as a trajectory without probes, so that it can be recorded, shown and verified like any other. */
function trajectoryOf(
  { graph, score }: Look,
  query: string,
  { usage }: GraphScore,
  settings: TrainingSettings,
) {
  const actions = actionsTo(graph)
  const transitions = graph.units.map(() => ({ parentScores: [], childScores: [] }))
  const forcedStop = graph.size === settings.maxUnits
  const scored = {
    query,
    probes: [],
    actions,
    transitions,
    forcedStop,
    terminalScore: score,
    terminalUsage: usage,
  }
  return creditTrajectory(scored, rewardsOf(settings))
}

/** The token limit per question, if set: a multiple of what the model uses alone. Undefined until that was measured. */
function maxTokens(looks: readonly Look[], { maxTokensOfDirect }: TrainingSettings): number | undefined {
  if (maxTokensOfDirect === undefined) return undefined
  const direct = looks.filter(({ graph }) => graph.size === 0)
  if (direct.length === 0) return undefined
  return (maxTokensOfDirect * direct.reduce((sum, { tokens }) => sum + tokens, 0)) / direct.length
}
