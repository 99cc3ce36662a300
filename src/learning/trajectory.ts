import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import type { Action } from '../graph/legality.ts'
import type { RewardSettings } from '../settings/rewards.ts'
import { requireFinite } from './finite.ts'
import {
  type Change,
  initialPotential,
  nextPotential,
  pairedUtilityGain,
  potentialIncrement,
} from './potential.ts'
import { shapingReward, type TerminalUsage, terminalReward, terminalShapingReward } from './rewards.ts'
import { roleRepetition, structuralComplexity } from './structural-terms.ts'

/** Scores of the graph before and after one addition, in the order of the trajectory's probes. */
interface ProbeScores {
  readonly parentScores: readonly number[]
  readonly childScores: readonly number[]
}

/** One construction and every score that its credit depends on. */
export interface ScoredConstruction {
  /** The id of the task that the graph was built for. */
  readonly query: string
  /** Ids of the tasks that every partial graph was run on, one set for all trajectories of the query. */
  readonly probes: readonly string[]
  /** Every decision: the additions in order, then STOP, which stays also when it was forced. */
  readonly actions: readonly Action[]
  /** Whether STOP was the only legal action. */
  readonly forcedStop: boolean
  /** One per addition. */
  readonly transitions: readonly ProbeScores[]
  /** S(G, q) of the final graph on the query. */
  readonly terminalScore: number
  /** Needed only when calls or tokens are penalised. */
  readonly terminalUsage?: TerminalUsage
}

/** One addition with its credit. */
export interface Transition extends ProbeScores, Change {
  /** G_{t+1}, the graph after the addition. */
  readonly graph: AgentGraph
  /** C(G_{t+1}). */
  readonly complexity: number
  /** D(G_{t+1}). */
  readonly repetition: number
  /** d_t. */
  readonly increment: number
  /** Φ_{t+1}. */
  readonly potential: number
  /** F_t = η Φ_{t+1} − Φ_t. */
  readonly reward: number
}

/**
 * A construction with its credit. Terminal terms stay apart from the last addition's reward, under the paper's own
 * names. A trajectory is itself a scored construction, also after a round trip through JSON, so its credit can be
 * computed again later, with the same or other settings.
 */
export interface Trajectory extends ScoredConstruction {
  readonly transitions: readonly Transition[]
  readonly terminal_reward: number
  readonly terminal_shaping_reward: number
  /** What the credit was computed with; returns take their discount from here. */
  readonly settings: RewardSettings
}

/** Turns scores into credit: potentials, stored rewards and the settlement at STOP. */
export function creditTrajectory(scored: ScoredConstruction, settings: RewardSettings): Trajectory {
  const { query, probes, actions, forcedStop, terminalScore, terminalUsage } = scored
  const additions = additionsOf(actions)
  if (additions.length !== scored.transitions.length) {
    throw incomplete(`it has ${additions.length} additions but probe scores of ${scored.transitions.length}`)
  }

  const transitions: Transition[] = []
  let graph = AgentGraph.empty
  let complexity = structuralComplexity(graph, settings)
  let repetition = roleRepetition(graph)
  let potential = initialPotential
  for (const [position, addition] of additions.entries()) {
    const { parentScores, childScores } = scored.transitions[position]!
    checkScores('parent', parentScores, probes, position)
    checkScores('child', childScores, probes, position)
    const before = { complexity, repetition, potential }
    graph = graph.add(addition)
    complexity = structuralComplexity(graph, settings)
    repetition = roleRepetition(graph)
    const change = {
      utilityGain: pairedUtilityGain(parentScores, childScores, settings),
      addedComplexity: complexity - before.complexity,
      addedRepetition: repetition - before.repetition,
    }
    const increment = potentialIncrement(change, settings)
    potential = requireFinite(
      nextPotential(before.potential, increment),
      `potential after action ${position}`,
    )
    const reward = requireFinite(
      shapingReward(before.potential, potential, settings),
      `reward of action ${position}`,
    )
    transitions.push({
      graph,
      parentScores,
      childScores,
      ...change,
      complexity,
      repetition,
      increment,
      potential,
      reward,
    })
  }

  requireFinite(terminalScore, `terminal score on ${query}, at action ${additions.length},`)
  return {
    query,
    probes,
    actions,
    forcedStop,
    transitions,
    terminalScore,
    terminalUsage,
    terminal_reward: requireFinite(terminalReward(terminalScore, terminalUsage, settings), 'terminal reward'),
    terminal_shaping_reward: terminalShapingReward(potential),
    settings,
  }
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
  if (scores.length !== probes.length) {
    throw incomplete(`action ${position} has ${scores.length} ${whose} scores for ${probes.length} probes`)
  }
  for (const [index, probe] of probes.entries()) {
    requireFinite(scores[index]!, `${whose} score on probe ${probe}, at action ${position},`)
  }
}

function incomplete(problem: string): Error {
  return new Error(`Not a complete trajectory: ${problem}.`)
}
