import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import type { Action } from '../graph/legality.ts'
import type { RewardSettings } from '../settings/rewards.ts'
import { requireFinite } from './finite.ts'
import { roleRepetition, structuralComplexity } from './structural-terms.ts'

/** Scores before and after one addition, in the order of the trajectory's probes. */
interface ProbeScores {
  readonly parentScores: readonly number[]
  readonly childScores: readonly number[]
}

/** A construction with every score its credit depends on. */
export interface ScoredConstruction {
  /** The id of the task the graph was built for. */
  readonly query: string
  /** Ids of the tasks every partial graph was run on; the same for all trajectories of the query. */
  readonly probes: readonly string[]
  /** Every decision: the additions in order, then STOP, even if it was forced. */
  readonly actions: readonly Action[]
  /** Whether STOP was the only legal action. */
  readonly forcedStop: boolean
  /** One per addition. */
  readonly transitions: readonly ProbeScores[]
  /** S(G, q) of the final graph on the query. */
  readonly terminalScore: number
  /** Calls and tokens of the final graph on the query. Needed only if they are penalised. */
  readonly terminalUsage?: { readonly calls: number; readonly tokens: number }
}

/**
 * A construction with its credit. The terminal terms are kept apart from the last addition's reward, under the
 * paper's names. A trajectory is itself a scored construction, even after a round trip through JSON, so its credit
 * can be recomputed later with the same or other settings.
 */
export type Trajectory = ReturnType<typeof creditTrajectory>

/** Turns scores into credit: potentials, stored rewards and the settlement at STOP. */
export function creditTrajectory(scored: ScoredConstruction, settings: RewardSettings) {
  const { query, probes, actions, forcedStop, terminalScore, terminalUsage } = scored
  const { alpha, beta, gammaR, eta } = settings
  const additions = additionsOf(actions)
  if (additions.length !== scored.transitions.length)
    throw incomplete(`it has ${additions.length} additions but probe scores of ${scored.transitions.length}`)

  // Φ_0 = 0: potentials are relative to the empty graph, whose complexity and repetition are 0 too.
  let before = { graph: AgentGraph.empty, complexity: 0, repetition: 0, potential: 0 }
  const transitions = additions.map((addition, position) => {
    const { parentScores, childScores } = scored.transitions[position]!
    checkScores('parent', parentScores, probes, position)
    checkScores('child', childScores, probes, position)
    const graph = before.graph.add(addition)
    const complexity = structuralComplexity(graph, settings)
    const repetition = roleRepetition(graph)
    const utilityGain = pairedUtilityGain(parentScores, childScores, settings)
    const addedComplexity = complexity - before.complexity
    const addedRepetition = repetition - before.repetition
    // d_t = α ΔU − β ΔC − γ_R ΔD, Φ_{t+1} = Φ_t + d_t, F_t = η Φ_{t+1} − Φ_t
    const increment = alpha * utilityGain - beta * addedComplexity - gammaR * addedRepetition
    const potential = requireFinite(before.potential + increment, `potential after action ${position}`)
    const reward = requireFinite(eta * potential - before.potential, `reward of action ${position}`)
    before = { graph, complexity, repetition, potential }
    return {
      /** G_{t+1}, the graph after the addition. */
      graph,
      parentScores,
      childScores,
      /** ΔU, ΔC and ΔD. */
      utilityGain,
      addedComplexity,
      addedRepetition,
      /** C(G_{t+1}). */
      complexity,
      /** D(G_{t+1}). */
      repetition,
      /** d_t. */
      increment,
      /** Φ_{t+1}. */
      potential,
      /** F_t, the shaping reward. It is the addition's whole reward, since its task reward is zero. */
      reward,
    }
  })

  requireFinite(terminalScore, `terminal score on ${query}, at action ${additions.length},`)
  return {
    query,
    probes,
    actions,
    forcedStop,
    transitions,
    terminalScore,
    terminalUsage,
    terminal_reward: requireFinite(terminalReward(scored, settings), 'terminal reward'),
    // −Φ, as the terminal state has potential zero. Written as a subtraction, because a bare minus would turn 0 into
    // -0.
    terminal_shaping_reward: 0 - before.potential,
    /** The settings behind the credit; returns take their discount from here. */
    settings,
  }
}

/**
 * ΔU_P = Σ_p [S(G', p) − S(G, p)] / (κ + |P|): the gain of an addition, paired probe by probe, so that the prior u_0
 * of the utility cancels. Without probes it is 0, even if κ = 0 would give 0/0.
 */
function pairedUtilityGain(
  parentScores: readonly number[],
  childScores: readonly number[],
  { kappa }: RewardSettings,
): number {
  if (parentScores.length === 0) return 0
  const gained = childScores.reduce((sum, score, probe) => sum + (score - parentScores[probe]!), 0)
  return gained / (kappa + parentScores.length)
}

/**
 * STOP's task reward: S, minus the penalties for calls and tokens. The paper sets both weights to zero and mentions
 * normalizers without giving values, so a weight here is simply per call and per token.
 */
function terminalReward(
  { terminalScore, terminalUsage }: ScoredConstruction,
  { callPenalty, tokenPenalty }: RewardSettings,
): number {
  if (callPenalty === 0 && tokenPenalty === 0) return terminalScore
  if (terminalUsage === undefined)
    throw new TypeError(
      'callPenalty or tokenPenalty is set, but the trajectory has no terminalUsage to charge. Record it, or set both to 0.',
    )
  return terminalScore - callPenalty * terminalUsage.calls - tokenPenalty * terminalUsage.tokens
}

function additionsOf(actions: readonly Action[]): Unit[] {
  if (actions.at(-1)?.type !== 'stop') throw incomplete('its last action is not STOP')
  return actions.slice(0, -1).map((action, position) => {
    if (action.type === 'stop') throw incomplete(`it goes on after STOP at action ${position}`)
    return action
  })
}

function checkScores(
  whose: 'parent' | 'child',
  scores: readonly number[],
  probes: readonly string[],
  position: number,
): void {
  if (scores.length !== probes.length)
    throw incomplete(`action ${position} has ${scores.length} ${whose} scores for ${probes.length} probes`)
  for (const [index, probe] of probes.entries())
    requireFinite(scores[index]!, `${whose} score on probe ${probe}, at action ${position},`)
}

function incomplete(problem: string): Error {
  return new Error(`Not a complete trajectory: ${problem}.`)
}
