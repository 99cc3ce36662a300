import type { AgentGraph } from '../../graph/agent-graph.ts'
import {
  demonstrationAt,
  type GraphPool,
  type ScoredGraph,
  searchQuestion,
  type Visit,
} from '../../learning/search/pool.ts'
import { type ReachedStage, StageAccount } from './stages.ts'

/** The search's dependencies. */
export interface SearchSource {
  /** Number of questions; batch b is on question b modulo this. */
  readonly questions: number
  readonly stages: readonly number[]
  /** The candidates of a batch; undefined ends the route. */
  candidates(question: number, batch: number): readonly AgentGraph[] | undefined
  score(graph: AgentGraph, question: number): Promise<number>
  /** Cost of the batch just made. */
  cost(): number
}

export interface SearchBatch extends Visit {
  readonly batch: number
  readonly question: number
  readonly cost: number
}

/** One demonstration of a stage's epoch. */
export interface Demonstration {
  readonly question: number
  readonly graph: ScoredGraph
}

export interface SearchStage extends ReachedStage {
  /** Counted from 1. */
  readonly number: number
  /** One demonstration per question that has one, in training order. */
  readonly epoch: readonly Demonstration[]
}

/** The search of Search-then-SFT: batches until the last stage of the budget is reached. */
export class SearchRoute {
  readonly account: StageAccount
  readonly #pools: readonly GraphPool[]
  readonly #source: SearchSource

  constructor(source: SearchSource) {
    this.#source = source
    this.account = new StageAccount(source.stages, source.questions)
    this.#pools = Array.from({ length: source.questions }, () => new Map())
  }

  /** The next batch with the stages it reached; undefined at the end. */
  async next(): Promise<{ batch: SearchBatch; stages: readonly SearchStage[] } | undefined> {
    if (this.account.end !== undefined) return undefined
    const { questions } = this.#source
    const number = this.account.batches
    const question = number % questions
    const candidates = this.#source.candidates(question, number)
    if (candidates === undefined) return undefined
    const visit = await searchQuestion(this.#pools[question]!, candidates, (graph) =>
      this.#source.score(graph, question),
    )
    const cost = this.#source.cost()
    const earlier = this.account.reached.length
    const stages = this.account.book(cost).map((reached, index) => ({
      ...reached,
      number: earlier + index,
      epoch: this.#epoch(earlier + index),
    }))
    return { batch: { ...visit, batch: number, question, cost }, stages }
  }

  #epoch(stage: number): Demonstration[] {
    return this.#pools.flatMap((pool, question) => {
      const graph = demonstrationAt(pool, stage)
      return graph === undefined ? [] : [{ question, graph }]
    })
  }
}
