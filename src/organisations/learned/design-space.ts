import type { AgentCount } from '../agents.ts'
import type { LearnerMeans } from '../organisation.ts'
import { agentsOf, type DrawnGraph, drawEdges, graphOf, legalPairs, roleVectors } from './agents.ts'

/** The part that both variants of G-Designer share: agents with features, pairs, and the graph of a decision. */
export async function designSpace(means: LearnerMeans, count: AgentCount) {
  const { library, encoder } = means
  const agents = agentsOf(means, count)
  const roles = await roleVectors(library, encoder)
  const pairs = legalPairs(agents, library)
  return {
    agents,
    pairs,
    /** The agents' features for a question: role ‖ question. */
    features: (question: ArrayLike<number>) =>
      agents.map(({ role }) => [...roles[role]!, ...Array.from(question)]),
    /** Draws the pairs with these probabilities. */
    decide(probabilities: ArrayLike<number>, uniform: () => number): DrawnGraph {
      const drawn = drawEdges(pairs, (pair) => uniform() < probabilities[pair]!)
      return { ...drawn, graph: graphOf(agents, drawn.edges, 'summarizer-of-all') }
    },
  }
}
