// Which pools each of the paper's studies draws from, and how; for Q1 also what stands in for files that are not there.
import type { BenchmarkName } from '../benchmarks/benchmark.ts'
import {
  d1Parts,
  type Parts,
  q1Parts,
  q2Parts,
  q2TableParts,
  q3Parts,
  q3TableParts,
  sampled,
  sharedParts,
  whole,
} from './draws.ts'
import { ablationSeed, mainSeed } from './memberships.ts'
import { type Pool, poolName, type Source } from './pool.ts'

export type Study = 'q1' | 'q2' | 'q3' | 'd1'

/** Q4 and the main table share the examples of Q1. */
export const studySeeds: Readonly<Record<Study, number>> = {
  q1: mainSeed,
  q2: ablationSeed,
  q3: ablationSeed,
  d1: mainSeed,
}

/** One draw from one pool. */
export interface Draw {
  readonly sources: readonly Source[]
  parts(pool: Pool, seed: number): Parts | Promise<Parts>
}

/** Where Q1 takes its examples from. */
export interface Q1Plan {
  readonly train: readonly Source[]
  readonly test: readonly Source[]
}

interface Q1Study {
  readonly paper: Q1Plan
  /** Instead of the paper's, in this order, where its files are not there. */
  readonly standIns?: readonly Q1Plan[]
  /** How many are evaluated; all of them otherwise. */
  readonly evaluation?: number
}

const training = 100

const of = (benchmark: BenchmarkName, ...splits: string[]): readonly Source[] =>
  splits.map((split) => ({ benchmark, split }))

/** 100 of train, and test; the development split stands in for train. */
const trainAndTest = (name: BenchmarkName, evaluation?: number): Q1Study => ({
  paper: { train: of(name, 'train'), test: of(name, 'test') },
  standIns: [{ train: of(name, 'dev'), test: of(name, 'test') }],
  ...(evaluation === undefined ? {} : { evaluation }),
})

const onePool = (sources: readonly Source[]): Q1Study => ({
  paper: { train: sources, test: sources },
  evaluation: 500,
})

const olderProblems = of('livecodebench', 'train')
const v6Problems = of('livecodebench', 'test')
const sampleProblems = of('livecodebench', 'sample')
const humaneval = of('humaneval', 'test')

export const q1Studies: Readonly<Record<BenchmarkName, Q1Study>> = {
  mmlu_pro: onePool(of('mmlu_pro', 'test')),
  strategyqa: onePool(of('strategyqa', 'dev', 'train')),
  aqua: trainAndTest('aqua'),
  gsm8k: { paper: { train: of('gsm8k', 'train'), test: of('gsm8k', 'test') } },
  humaneval: {
    paper: { train: olderProblems, test: humaneval },
    standIns: [
      { train: sampleProblems, test: humaneval },
      { train: humaneval, test: humaneval },
    ],
  },
  livecodebench: {
    paper: { train: olderProblems, test: v6Problems },
    standIns: [
      { train: sampleProblems, test: v6Problems },
      { train: v6Problems, test: v6Problems },
      { train: sampleProblems, test: sampleProblems },
    ],
  },
  tatqa: trainAndTest('tatqa'),
  tabfact: trainAndTest('tabfact', 500),
}

/** The draws of Q1 from these pools: the paper's own from the paper's, the nearest to them from others. */
export function q1Draws(name: BenchmarkName, plan: Q1Plan): readonly Draw[] {
  const { paper, evaluation } = q1Studies[name]
  if (samePool(plan.train, plan.test)) {
    const parts = samePlan(plan, paper)
      ? q1Parts
      : (pool: Pool, seed: number) => sharedParts(pool, { training, evaluation }, seed)
    return [{ sources: plan.test, parts }]
  }
  const paperEvaluation = samePool(paper.train, paper.test) && samePool(plan.test, paper.test)
  const evaluated = (pool: Pool, seed: number) => {
    if (paperEvaluation) return q1Parts(pool, seed).test
    return evaluation === undefined ? whole(pool) : sampled(pool, evaluation, seed)
  }
  return [
    { sources: plan.train, parts: (pool, seed) => ({ train: sampled(pool, training, seed) }) },
    { sources: plan.test, parts: (pool, seed) => ({ test: evaluated(pool, seed) }) },
  ]
}

/** The other studies use two of the benchmarks, and one pool of each. */
export function studyDraw(name: BenchmarkName, study: Exclude<Study, 'q1'>): Draw | undefined {
  if (name === 'mmlu_pro') {
    const parts = { q2: q2Parts, q3: q3Parts, d1: d1Parts }[study]
    return { sources: of('mmlu_pro', 'test'), parts }
  }
  if (name === 'tatqa') {
    const parts = { q2: q2TableParts, q3: q3TableParts, d1: d1Parts }[study]
    return { sources: of('tatqa', 'dev'), parts }
  }
  return undefined
}

/** What a plan does otherwise than the paper; undefined where it does as the paper says. */
export function q1Deviation(name: BenchmarkName, plan: Q1Plan): string | undefined {
  const told = samePlan(plan, q1Studies[name].paper) ? [] : [otherPools(plan, q1Studies[name].paper)]
  if (samePool(plan.test, of('tatqa', 'test')))
    told.push(
      "The paper's 1,669 test questions are published without answers; the 1,663 of tatqa_dataset_test_gold.json take their place.",
    )
  return told.length === 0 ? undefined : told.join(' ')
}

function otherPools({ train, test }: Q1Plan, paper: Q1Plan): string {
  const [trained, evaluated] = [poolName(train), poolName(test)]
  const does = samePool(train, test)
    ? `Trains on a part of ${trained} and evaluates on the rest`
    : `Trains on ${trained} and evaluates on ${evaluated}`
  return `${does}; the paper trains on ${poolName(paper.train)} and evaluates on ${poolName(paper.test)}.`
}

function samePlan(a: Q1Plan, b: Q1Plan): boolean {
  return samePool(a.train, b.train) && samePool(a.test, b.test)
}

export function samePool(a: readonly Source[], b: readonly Source[]): boolean {
  return poolName(a) === poolName(b)
}
