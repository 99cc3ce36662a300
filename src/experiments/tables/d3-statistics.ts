import { positionAligned } from '../../learning/advantages.ts'
import { returnsToGo } from '../../learning/returns.ts'
import { Problem } from '../../problem.ts'
import { rewardSettings } from '../../settings/rewards.ts'

/** The rewards of one construction as stored in a run. */
export interface StoredRewards {
  /** One per addition. */
  readonly rewards: readonly number[]
  readonly terminalReward: number
  readonly terminalShapingReward: number
  readonly forcedStop: boolean
}

/** For a set of decisions: how many have a non-zero advantage under each return. */
export interface SignalCounts {
  readonly actions: number
  readonly terminalNonzero: number
  readonly denseNonzero: number
  /** Null for an empty set. */
  readonly terminalRate: number | null
  readonly denseRate: number | null
}

const preservedWithin = 1e-9
const nonzeroAbove = 1e-8
const settings = rewardSettings()

/** One decision with its advantage under both returns. */
interface Decision {
  readonly position: number
  readonly kind: 'add' | 'sampled-stop' | 'forced-stop'
  readonly terminal: number
  readonly dense: number
}

/** D3's statistics over the groups of one data set. Counts are summed over all groups before ratios are taken. */
export function d3Statistics(groups: readonly (readonly StoredRewards[])[], maxUnits: number) {
  for (const [group, trajectories] of groups.entries())
    for (const [index, trajectory] of trajectories.entries()) check(trajectory, maxUnits, group, index)
  const decisions = groups.flatMap(decisionsOf)
  const pairs = groups.map(pairCounts)
  const sum = (field: keyof (typeof pairs)[number]) => pairs.reduce((total, one) => total + one[field], 0)
  const intermediate = decisions.filter(({ position, kind }) => position > 0 && kind === 'add')
  const later = (kind: Decision['kind']) =>
    decisions.filter((decision) => decision.position > 0 && decision.kind === kind)
  const positions = [...new Set(intermediate.map(({ position }) => position))].sort((a, b) => a - b)
  return {
    groups: groups.length,
    trajectories: groups.flat().length,
    intermediateAdd: counted(intermediate),
    byPosition: positions.map((position) => ({
      position,
      ...counted(intermediate.filter((decision) => decision.position === position)),
    })),
    initial: counted(decisions.filter(({ position }) => position === 0)),
    sampledStop: counted(later('sampled-stop')),
    forcedStop: counted(later('forced-stop')),
    pairs: {
      equalScorePairs: sum('equalScorePairs'),
      eligible: sum('eligible'),
      distinguished: sum('distinguished'),
      rate: rate(sum('distinguished'), sum('eligible')),
    },
  }
}

function check(
  { rewards, terminalReward, terminalShapingReward, forcedStop }: StoredRewards,
  maxUnits: number,
  group: number,
  trajectory: number,
): void {
  if (rewards.length > maxUnits || forcedStop !== (rewards.length === maxUnits))
    throw new D3RecordError('forced_stop', group, trajectory)
  const shaping = rewards.reduce((sum, reward) => sum + reward, 0) + terminalShapingReward
  if (!(Math.abs(shaping) <= preservedWithin && Number.isFinite(terminalReward)))
    throw new D3RecordError('return_not_preserved', group, trajectory)
}

/** G_t = S − Φ_t, summed backward from the stored rewards. */
function denseReturns({ rewards, terminalReward, terminalShapingReward }: StoredRewards): number[] {
  return returnsToGo({
    transitions: rewards.map((reward) => ({ reward })),
    terminal_reward: terminalReward,
    terminal_shaping_reward: terminalShapingReward,
    settings,
  })
}

function decisionsOf(group: readonly StoredRewards[]): Decision[] {
  const onlyTerminal = group.map(({ rewards, terminalReward }) =>
    new Array<number>(rewards.length + 1).fill(terminalReward),
  )
  const terminal = positionAligned(onlyTerminal, settings.epsilon)
  const dense = positionAligned(group.map(denseReturns), settings.epsilon)
  return group.flatMap(({ rewards, forcedStop }, trajectory) =>
    terminal[trajectory]!.map((advantage, position) => ({
      position,
      kind: position < rewards.length ? 'add' : forcedStop ? 'forced-stop' : 'sampled-stop',
      terminal: advantage,
      dense: dense[trajectory]![position]!,
    })),
  )
}

function counted(decisions: readonly Decision[]): SignalCounts {
  const nonzero = (which: 'terminal' | 'dense') =>
    decisions.filter((decision) => Math.abs(decision[which]) > nonzeroAbove).length
  const [terminalNonzero, denseNonzero] = [nonzero('terminal'), nonzero('dense')]
  return {
    actions: decisions.length,
    terminalNonzero,
    denseNonzero,
    terminalRate: rate(terminalNonzero, decisions.length),
    denseRate: rate(denseNonzero, decisions.length),
  }
}

/** Pairs of equal score, and at how many shared later additions their dense returns differ. */
function pairCounts(group: readonly StoredRewards[]) {
  const returns = group.map(denseReturns)
  const counts = { equalScorePairs: 0, eligible: 0, distinguished: 0 }
  for (const [i, first] of group.entries())
    for (const [j, second] of group.entries()) {
      if (j <= i || Math.abs(first.terminalReward - second.terminalReward) >= nonzeroAbove) continue
      counts.equalScorePairs += 1
      const shared = Math.min(first.rewards.length, second.rewards.length)
      for (let position = 1; position < shared; position += 1) {
        counts.eligible += 1
        if (Math.abs(returns[i]![position]! - returns[j]![position]!) > nonzeroAbove)
          counts.distinguished += 1
      }
    }
  return counts
}

function rate(part: number, of: number): number | null {
  return of === 0 ? null : part / of
}

export class D3RecordError extends Problem {
  readonly reason: 'forced_stop' | 'return_not_preserved'
  readonly group: number
  readonly trajectory: number

  constructor(reason: D3RecordError['reason'], group: number, trajectory: number) {
    const problem =
      reason === 'forced_stop'
        ? 'its STOP is not forced exactly when the unit limit was reached'
        : 'its shaping rewards do not cancel, so that its return is not its score'
    super(`Update ${group}, trajectory ${trajectory} (both counted from 0): ${problem}.`)
    this.reason = reason
    this.group = group
    this.trajectory = trajectory
  }
}
