import { z } from 'zod'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import { agentCount } from '../agents.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type Agent, agentsOf, type DrawnGraph, drawEdges, type Edge, graphOf, legalPairs } from './agents.ts'
import { defineLearner } from './define-learner.ts'
import { Network } from './network.ts'
import { type GraphSampler, policyGradient } from './policy-gradient.ts'

const options = z.object({
  agents: agentCount
    .default('usual')
    .describe(
      'Number of agents: the library’s first roles, all atomic. Default: 4, for programs 5, for knowledge 6.',
    ),
  iterations: z.int().min(1).default(200).describe('Number of updates.'),
  batch: z.int().min(1).default(4).describe('Questions per update, each with one graph.'),
  learningRate: z.number().positive().default(0.1).describe('Learning rate of Adam.'),
})

/** One logit per ordered pair of agents and per edge to the final node: the same distribution for all questions. */
export function swarmSampler(
  means: LearnerMeans,
  { agents: count, learningRate }: Pick<z.output<typeof options>, 'agents' | 'learningRate'>,
): GraphSampler<null, DrawnGraph> {
  const { library, seed } = means
  const agents = agentsOf(means, count)
  const final = agents.length
  const pairs: Edge[] = [...legalPairs(agents, library), ...agents.map((_, agent): Edge => [agent, final])]
  const network = new Network(
    { edge_logits: [pairs.length, 1] },
    // p = 0.5
    { seed, learningRate, initial: () => 0 },
  )
  const logits = () => network.run((layers) => layers.values(layers.weight('edge_logits')))
  const drawn = (take: (pair: number) => boolean): DrawnGraph => {
    const edges = drawEdges(pairs, take)
    return { ...edges, graph: swarmGraph(agents, edges.edges) }
  }
  return {
    network,
    read: async () => null,
    draw(_, random) {
      const values = logits()
      return drawn((pair) => random.uniform() < 1 / (1 + Math.exp(-values[pair]!)))
    },
    /** −log p · utility, averaged over the batch, without a baseline. */
    loss: (layers, batch) =>
      layers.weightedSum(
        ...batch.map(({ drawn: { tried, chosen }, utility }) => {
          const decided = layers.rowsAt(layers.weight('edge_logits'), tried)
          return [layers.bernoulliLogs(decided, chosen), -utility / batch.length] as const
        }),
      ),
    use() {
      const values = logits()
      return drawn((pair) => values[pair]! > 0).graph
    },
  }
}

/** The final node is a solver that hears the agents with an edge to it. Agents that cannot reach it are not run. */
function swarmGraph(agents: readonly Agent[], edges: readonly Edge[]): AgentGraph {
  const nodes = [...agents, { role: -1, id: 'solver', realization: 'atomic' as const }]
  const heard = new Set([agents.length])
  for (const place of heard) for (const [from, to] of edges) if (to === place) heard.add(from)
  const kept = [...nodes.keys()].filter((node) => heard.has(node))
  const between = edges
    .filter(([, to]) => heard.has(to))
    .map(([from, to]): Edge => [kept.indexOf(from), kept.indexOf(to)])
  return graphOf(
    kept.map((node) => nodes[node]!),
    between,
    'last',
  )
}

export const gptswarm = defineLearner({
  name: 'gptswarm',
  category: 'adaptive',
  description: 'Agents whose edges are learned on accuracy, one graph for all questions.',
  fidelity: 'released code',
  source: 'GPTSwarm (metauto-ai/GPTSwarm, MIT), edge_optimizer and evaluator.optimize_swarm',
  differences: [
    'A node is an atomic role of the library, not an operation of an IO, CoT or ToT graph.',
    'Pairs with mismatched types are excluded.',
    'The final node is a call that hears the nodes with an edge to it, not a majority vote; nodes that cannot reach it are not run.',
    'Prompts are not optimized.',
  ],
  options,
  learner: (means, given) =>
    policyGradient(swarmSampler(means, given), {
      seed: means.seed,
      batch: given.batch,
      updates: () => given.iterations,
    }),
})
