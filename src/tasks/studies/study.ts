import { ablationSeed, mainSeed } from './memberships.ts'
import type { Pool } from './pool.ts'

/** Q4 shares the examples of Q1. */
export type Study = 'q1' | 'q2' | 'q3' | 'd1' | 'd3'

export const studySeeds: Readonly<Record<Study, number>> = {
  q1: mainSeed,
  q2: ablationSeed,
  q3: ablationSeed,
  d1: mainSeed,
  d3: mainSeed,
}

/** Where Q1 takes its examples from: `train`, `dev + train` as one pool, or `other/train` of another benchmark. */
export interface Q1Splits {
  readonly train: string
  readonly test: string
}

export interface Q1Study extends Q1Splits {
  /** Alternatives in order of preference, if files of the paper's splits are missing. */
  readonly standIns?: readonly Q1Splits[]
  /** How many examples are evaluated. Default: all. */
  readonly evaluation?: number
}

/** The studies that draw from one pool of a benchmark. */
export interface FurtherStudies extends Readonly<Record<Exclude<Study, 'q1' | 'd3'>, Draw>> {
  readonly split: string
}

/** Where D3 takes its questions from, with an alternative if that file is missing. */
export interface D3Study {
  readonly split: string
  readonly standIn?: string
}

export type Draw = (pool: Pool, seed: number) => Parts | Promise<Parts>

export interface Parts {
  readonly train?: Chosen
  readonly test?: Chosen
  /** Examples that the recipe explicitly discards. */
  readonly discarded?: readonly string[]
}

/** Examples of a pool by position, in the order they are used. */
export interface Chosen {
  readonly positions: readonly number[]
  /** How they were chosen, in words. */
  readonly recipe: string
}
