import { z } from 'zod'
import type { Tensor } from '../../numerics/workspace.ts'
import { agentCount } from '../agents.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type DrawnGraph, questionVector } from './agents.ts'
import { defineLearner } from './define-learner.ts'
import { designSpace } from './design-space.ts'
import { variationalDesigner } from './g-designer-paper.ts'
import { type Layers, linearShapes, Network } from './network.ts'
import { type GraphSampler, policyGradient } from './policy-gradient.ts'
import { convolutionWeights, pathEdges } from './propagation.ts'

const options = z.object({
  variant: z
    .enum(['released', 'paper'])
    .default('released')
    .describe('The network of the released code, or the paper’s variational one.'),
  agents: agentCount
    .default('usual')
    .describe(
      'Number of agents; roles repeat if there are too few. Default: 4, for programs 5, for knowledge 6.',
    ),
  iterations: z.int().min(1).default(10).describe('Number of updates.'),
  batch: z.int().min(1).default(4).describe('Questions per update.'),
  learningRate: z.number().positive().default(0.1).describe('Learning rate of Adam.'),
})

/** The released code's network. Its optimizer only trains the convolution. */
export async function releasedDesigner(
  means: LearnerMeans,
  { agents, learningRate }: Pick<z.output<typeof options>, 'agents' | 'learningRate'>,
): Promise<GraphSampler<Float32Array, DrawnGraph>> {
  const { encoder, seed } = means
  const space = await designSpace(means, agents)
  const count = space.agents.length
  const weights = convolutionWeights(count, pathEdges(count))
  const network = new Network(
    {
      ...linearShapes('gcn.0', 2 * encoder.dims, 16),
      ...linearShapes('gcn.1', 16, encoder.dims),
      ...linearShapes('mlp.0', encoder.dims, 16),
      ...linearShapes('mlp.1', 16, 16),
    },
    { seed, learningRate, frozen: (name) => name.startsWith('mlp.') },
  )
  /** Logits of the pairs, in [−1, 1]. */
  const logits = (layers: Layers, question: ArrayLike<number>): Tensor => {
    const { tape } = layers
    const convolution = (name: string, x: Tensor) =>
      tape.bias(
        layers.weight(`${name}.bias`),
        layers.mixRows(weights, tape.linear(x, layers.weight(`${name}.weight`))),
      )
    const hidden = layers.relu(convolution('gcn.0', layers.constant(space.features(question))))
    const encoded = layers.logSoftmax(convolution('gcn.1', hidden))
    const z = layers.linear('mlp.1', layers.relu(layers.linear('mlp.0', encoded)))
    const scores = { ...layers.minMax(layers.rowProducts(z, z)), rows: count * count, columns: 1, stride: 1 }
    return layers.rowsAt(
      scores,
      space.pairs.map(([from, to]) => from * count + to),
    )
  }
  return {
    network,
    read: (task) => questionVector(task, encoder),
    draw(question, random) {
      const values = network.run((layers) => layers.values(logits(layers, question)))
      const probabilities = values.map((value) => 1 / (1 + Math.exp(-value)))
      return space.decide(probabilities, () => random.uniform())
    },
    loss(layers, batch) {
      return layers.weightedSum(
        ...batch.map(({ question, drawn: { tried, chosen }, utility }) => {
          const decided = layers.rowsAt(logits(layers, question), tried)
          return [layers.bernoulliLogs(decided, chosen), -utility / batch.length] as const
        }),
      )
    },
  }
}

export const gDesigner = defineLearner({
  name: 'g-designer',
  category: 'adaptive',
  description: 'A fixed list of agents, whose edges a graph network draws for each question.',
  fidelity: 'released code',
  source:
    'G-Designer (yanweiyue/GDesigner), graph.py and its training scripts; `variant: paper` from the method section',
  differences: [
    'The hand-written role graph is a path in library order: in a complete graph, the convolution would make all agents alike.',
    'Pairs with mismatched types are excluded; dropout is left out.',
    'Vectors have the width of the run’s encoder (384 with MiniLM).',
    '`variant: paper` draws edges from σ of the decoder, without Gumbel noise; weights that the paper leaves open are ours.',
  ],
  options,
  async learner(means, given) {
    const { batch, iterations, variant } = given
    const sampler = await (variant === 'released' ? releasedDesigner : variationalDesigner)(means, given)
    return policyGradient(sampler, { seed: means.seed, batch, updates: () => iterations })
  },
})
