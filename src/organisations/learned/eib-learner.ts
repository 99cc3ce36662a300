import { z } from 'zod'
import { taskEmbedding } from '../../encoder/query-embedding.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import { agentCount } from '../agents.ts'
import type { LearnerMeans } from '../organisation.ts'
import {
  agentsOf,
  type DrawnGraph,
  drawEdges,
  type Edge,
  graphOf,
  legalPairs,
  questionVector,
  readFieldsOf,
} from './agents.ts'
import { defineLearner } from './define-learner.ts'
import { type Layers, linearShapes, Network } from './network.ts'
import { type GraphSampler, policyGradient } from './policy-gradient.ts'
import { neighbourWeights, pathEdges } from './propagation.ts'

const options = z.object({
  agents: agentCount
    .default('usual')
    .describe(
      'Number of agents; roles repeat if there are too few. Default: 4, for programs 5, for knowledge 6.',
    ),
  rounds: z.int().min(1).max(8).default(3).describe('Rounds of communication.'),
  hidden: z.int().min(1).default(64).describe('Width of the two graph networks.'),
  iterations: z.int().min(1).default(10).describe('Number of updates.'),
  batch: z.int().min(1).default(4).describe('Questions per update.'),
  learningRate: z.number().positive().default(0.01).describe('Learning rate of Adam.'),
})

interface EibQuestion {
  readonly question: Float32Array
  /** One vector per agent, of role and question as one text. */
  readonly agents: readonly Float32Array[]
}

/** Two views of the agents, fully connected and as a chain. A gate mixes their edge masks per question. */
export function eibSampler(
  means: LearnerMeans,
  { agents: given, rounds, hidden, learningRate }: z.output<typeof options>,
): GraphSampler<EibQuestion, DrawnGraph> {
  const { library, encoder, seed } = means
  const agents = agentsOf(means, given)
  const count = agents.length
  const pairs = legalPairs(agents, library)
  const everyPair = agents.flatMap((_, i) => agents.map((__, j): Edge => [i, j]))
  const views = {
    full: neighbourWeights(count, everyPair),
    chain: neighbourWeights(count, pathEdges(count)),
  }
  const network = new Network(
    {
      ...linearShapes('full.0', encoder.dims, hidden),
      ...linearShapes('full.1', hidden, hidden),
      ...linearShapes('chain.0', encoder.dims, hidden),
      ...linearShapes('chain.1', hidden, hidden),
      ...linearShapes('gate.0', encoder.dims, hidden),
      ...linearShapes('gate.1', hidden, 2),
    },
    { seed, learningRate },
  )
  const mask = (layers: Layers, view: keyof typeof views, x: Tensor): Tensor => {
    const layer = (name: string, from: Tensor) => layers.mixRows(views[view], layers.linear(name, from))
    const latent = layer(`${view}.1`, layers.relu(layer(`${view}.0`, x)))
    const ends = (end: 0 | 1) => pairs.map((pair) => pair[end])
    return layers.sigmoid(layers.dots(latent, ends(0), latent, ends(1)))
  }
  /** αM_d + (1 − α)M_s for each pair. */
  const probabilities = (layers: Layers, read: EibQuestion): Tensor => {
    const x = layers.constant(read.agents)
    const scores = layers.linear(
      'gate.1',
      layers.relu(layers.linear('gate.0', layers.constant([read.question]))),
    )
    const gate = layers.exp(layers.logSoftmax(scores))
    const alpha = layers.rowsAt({ ...gate, rows: 2, columns: 1, stride: 1 }, [0])
    return layers.add(
      layers.multiply(alpha, mask(layers, 'full', x)),
      layers.multiply(layers.affine(alpha, -1, 1), mask(layers, 'chain', x)),
    )
  }
  return {
    network,
    async read(task) {
      const fields = readFieldsOf(task)
      const texts = agents.map(({ role }) => `${library.texts[role]!.role}\n${fields.question}`)
      return {
        question: await questionVector(task, encoder),
        agents: await Promise.all(texts.map((question) => taskEmbedding({ ...fields, question }, encoder))),
      }
    },
    draw(question, random) {
      const values = network.run((layers) => layers.values(probabilities(layers, question)))
      const drawn = drawEdges(pairs, (pair) => random.uniform() < values[pair]!)
      return { ...drawn, graph: graphOf(agents, drawn.edges, 'summarizer', rounds) }
    },
    loss(layers, batch) {
      return layers.weightedSum(
        ...batch.map(({ question, drawn: { tried, chosen }, utility }) => {
          const decided = layers.rowsAt(probabilities(layers, question), tried)
          return [layers.probabilityLogs(decided, chosen), -utility / batch.length] as const
        }),
      )
    },
  }
}

export const eibLearner = defineLearner({
  name: 'eib-learner',
  category: 'adaptive',
  description: 'Two views of a fixed list of agents, dense and sparse, mixed for each question into edges.',
  fidelity: 'paper',
  source: 'EIB-Learner, method section; its code (se7esx/EIB) could not be read',
  differences: [
    'Masks are σ(ZᵀZ), and a layer mixes each agent with the mean of its neighbours; the paper states neither.',
    'A symmetric mask becomes a DAG by role order and a check for cycles; pairs with mismatched types are excluded.',
    'Widths, learning rate, batch size and number of updates are ours; the summarizer hears the sinks of the last round.',
    'In later rounds an agent also hears its own reply from the previous round.',
  ],
  options,
  learner: (means, given) =>
    policyGradient(eibSampler(means, given), {
      seed: means.seed,
      batch: given.batch,
      updates: () => given.iterations,
    }),
})
