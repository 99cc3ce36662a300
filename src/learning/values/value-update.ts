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
import { creditTrajectory } from '../trajectory.ts'
import type { GraphScore, ScoreGraph, TrainedUpdate } from '../update.ts'
import { chooseGraphs } from './graph-choice.ts'
import { actionsTo, imitate } from './imitation.ts'
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
  /** Evaluations under way at once. */
  readonly width: number
  /** Asked before each evaluation. Once it says no, the update is given up, and what was evaluated waits in the ledger. */
  readonly mayGoOn: () => boolean
}

/** Lessons that the policy gets after the last round, after the one before, and after others; whole passes, some at least. */
const lessonsAfter = { last: 2000, lastButOne: 400, others: 64 } as const
const leastPasses = 4

/**
 * One round of learning by values: looks where the values are unsure and good graphs are likely, values from every look so
 * far, and a policy that imitates the choice they make for each question. Undefined if it was given up.
 */
export async function updateByValues(learner: PolicyLearner, options: ValueUpdateOptions) {
  const { settings, questions, rounds, known = [] } = options
  const { seed, restriction, patience } = settings
  const update = rounds.length
  const { queries, traits } = questions
  const tokenWorth = settings.pointsPer1000Tokens / 100_000
  const pairs = proposeLooks(rounds, {
    ...{ seed, patience, tokenWorth, known, traits: traits[0]! },
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
    ...{ tokenWorth, traits },
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
    ...{ update, temperature: 1, report, advantages: [], evaluations: pairs.length },
    trajectories: looks.map((look, index) =>
      trajectoryOf(look, queries[look.question]!.id, scores[index]!, settings),
    ),
    chosen: queries.map(({ id }, index) => ({ task: id, graph: choice.graphs[index]! })),
    gain: choice.gain,
    curve: left === 0 ? questionCurve(all, traits[0]!, tokenWorth) : undefined,
  }
  return { trained, looks }
}

/** Evaluates all pairs, so many at a time. */
async function evaluateAll(
  pairs: readonly Pair[],
  options: ValueUpdateOptions,
): Promise<GraphScore[] | undefined> {
  const { questions, evaluate, width, mayGoOn } = options
  const scores: GraphScore[] = []
  let next = 0
  const work = async () => {
    while (next < pairs.length && mayGoOn()) {
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

/** A look as a trajectory without probes, so that it is recorded, shown and verified like any other. */
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

/** Tokens per question that the settings allow, in multiples of what the model alone takes, once that was seen. */
function maxTokens(looks: readonly Look[], { maxTokensOfDirect }: TrainingSettings): number | undefined {
  if (maxTokensOfDirect === undefined) return undefined
  const direct = looks.filter(({ graph }) => graph.size === 0)
  if (direct.length === 0) return undefined
  return (maxTokensOfDirect * direct.reduce((sum, { tokens }) => sum + tokens, 0)) / direct.length
}
