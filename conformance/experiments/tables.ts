import { matchBudget } from '../../src/experiments/measures/matched-budget.ts'
import { paretoFrontier } from '../../src/experiments/measures/pareto.ts'
import { compareSeeds } from '../../src/experiments/measures/seed-summary.ts'
import { evaluationCounts, StageAccount } from '../../src/experiments/search/stages.ts'
import { d1Table } from '../../src/experiments/tables/d1-table.ts'
import {
  coverageBound,
  executionsForShare,
  verifiedCoverage,
} from '../../src/experiments/tables/d2-coverage.ts'
import { d3Statistics } from '../../src/experiments/tables/d3-statistics.ts'
import { q2Table } from '../../src/experiments/tables/q2-table.ts'
import { q1Sample } from '../../src/tasks/studies/memberships.ts'

/** Terms of the golden files. */
export type Computed = Readonly<Record<string, unknown>>

// biome-ignore lint/suspicious/noExplicitAny: golden input.
type Golden = any

/** `scoreText` as `score_text`, recursively. */
function inTheirWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inTheirWords)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name
        .replace('AgainstAAA', '_vs_AAA')
        .replace('AgainstGGG', '_vs_GGG')
        .replace(/(?<=[a-z])[A-Z](?=[a-z])/g, (letter) => `_${letter.toLowerCase()}`),
      inTheirWords(field),
    ]),
  )
}

export function granularityOf({ records }: Golden): Computed {
  return inTheirWords(
    d1Table(
      records.map(({ score_correct, ...record }: Golden) => ({ ...record, scoreCorrect: score_correct })),
    ),
  ) as Computed
}

export function coverageOf({ ms, budgets, m, executions, assignments, share }: Golden): Computed {
  if (ms !== undefined) {
    const rows = ms.map((roles: number) => ({
      m: roles,
      configurations: coverageBound(roles, 0).configurations.toString(),
      coverage_bounds: budgets.map((budget: number) => coverageBound(roles, budget).coverageBound),
    }))
    return { rows }
  }
  return inTheirWords({
    ...coverageBound(m, executions),
    ...(assignments && verifiedCoverage(m, executions, assignments)),
    ...(share && { executionsForShare: executionsForShare(m, share) }),
  }) as Computed
}

export function selectionOf({ pool, count, seed }: Golden): Computed {
  return { indices: q1Sample(pool, count, seed).sorted }
}

export function creditOf({ max_units, groups }: Golden): Computed {
  const stored = groups.map(({ trajectories }: Golden) =>
    trajectories.map((trajectory: Golden) => ({
      rewards: trajectory.rewards,
      terminalReward: trajectory.terminal_reward,
      terminalShapingReward: trajectory.terminal_shaping_reward,
      forcedStop: trajectory.forced_stop,
    })),
  )
  return inTheirWords(d3Statistics(stored, max_units)) as Computed
}

export function budgetOf({ budget, methods }: Golden): Computed {
  return {
    methods: methods.map(({ method, settings }: Golden) => ({ method, ...matchBudget(budget, settings) })),
  }
}

export function frontierOf({ points }: Golden): Computed {
  const { leftOut, ...rest } = paretoFrontier(points)
  return { ...rest, left_out: leftOut }
}

export function ablationOf({ datasets }: Golden): Computed {
  return {
    datasets: datasets.map(({ dataset, variants }: Golden) => ({
      dataset,
      ...(inTheirWords(q2Table(variants)) as object),
    })),
  }
}

export function accountOf({ stages, questions, costs, routes, datasets, nonzero_stages }: Golden): Computed {
  if (routes !== undefined)
    return evaluationCounts({ datasets, questions, routes, nonzeroStages: nonzero_stages })
  const account = new StageAccount(stages, questions)
  for (const cost of costs) if (account.end === undefined) account.book(cost)
  const { reached, notReached, batches, spent, end = 'exhausted' } = account
  return { stages: reached, not_reached: notReached, batches, spent, end }
}

export function seedsOf({ variant, base }: Golden): Computed {
  return compareSeeds(variant, base)
}
