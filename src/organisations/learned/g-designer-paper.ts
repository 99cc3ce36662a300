import { nuclearNorm } from '../../numerics/nuclear-norm.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { AgentCount } from '../agents.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type DrawnGraph, type Edge, questionVector } from './agents.ts'
import { designSpace } from './design-space.ts'
import { type Layers, linearShapes, Network } from './network.ts'
import type { GraphSampler } from './policy-gradient.ts'
import { convolutionWeights, pathEdges } from './propagation.ts'
import { drawNoise } from './variational.ts'

/** Size of a latent vector, as in the released code. */
const latent = 16
/** Our own: the paper does not state these weights. */
const weights = { divergence: 0.01, anchor: 0.1, sparsity: 0.01 } as const

interface DrawnVariation extends DrawnGraph {
  /** The noise its latents were drawn with, so that the update uses the same. */
  readonly noise: readonly number[][]
}

/**
 * The paper's network: a variational graph autoencoder over the agents and a virtual task node connected to all of them. Its
 * loss adds to the policy gradient the latents' divergence from a standard normal, the distance of the drawn graph from the
 * anchor (a chain), and its density, as the nuclear norm of the edge probabilities.
 */
export async function variationalDesigner(
  means: LearnerMeans,
  { agents, learningRate }: { readonly agents: AgentCount; readonly learningRate: number },
): Promise<GraphSampler<Float32Array, DrawnVariation>> {
  const { encoder, seed } = means
  const space = await designSpace(means, agents)
  const count = space.agents.length
  const joined = [...pathEdges(count), ...space.agents.map((_, agent): Edge => [agent, count])]
  const convolution = convolutionWeights(count + 1, joined)
  const network = new Network(
    {
      ...linearShapes('gcn', 2 * encoder.dims, latent),
      ...linearShapes('mean', latent, latent),
      ...linearShapes('log_variance', latent, latent),
      ...linearShapes('decoder.0', 3 * latent, latent),
      ...linearShapes('decoder.1', latent, 1),
    },
    { seed, learningRate },
  )
  const layer = (layers: Layers, name: string, x: Tensor) =>
    layers.mixRows(convolution, layers.linear(name, x))
  const decode = (layers: Layers, question: Float32Array, noise: readonly number[][]) => {
    // The task node's features are only the question.
    const task = [...Array.from(question), ...Array.from(question)]
    const x = layers.constant([...space.features(question), task])
    const hidden = layers.relu(layer(layers, 'gcn', x))
    const mean = layer(layers, 'mean', hidden)
    const logVariance = layer(layers, 'log_variance', hidden)
    const deviation = layers.exp(layers.affine(logVariance, 0.5))
    const z = layers.add(mean, layers.multiply(deviation, layers.constant(noise)))
    const at = (places: readonly number[]) => layers.rowsAt(z, places)
    const ends = layers.beside(
      at(space.pairs.map(([from]) => from)),
      at(space.pairs.map(([, to]) => to)),
      at(space.pairs.map(() => count)),
    )
    const logits = layers.linear('decoder.1', layers.relu(layers.linear('decoder.0', ends)))
    return { logits, mean, logVariance }
  }
  return {
    network,
    read: (task) => questionVector(task, encoder),
    draw(question, random) {
      const noise = drawNoise(count + 1, latent, random)
      const values = network.run((layers) => layers.values(decode(layers, question, noise).logits))
      const probabilities = values.map((value) => 1 / (1 + Math.exp(-value)))
      return { ...space.decide(probabilities, () => random.uniform()), noise }
    },
    loss(layers, batch) {
      const { tape } = layers
      const terms = batch.flatMap(({ question, drawn: { tried, chosen, noise }, utility }) => {
        const { logits, mean, logVariance } = decode(layers, question, noise)
        const probabilities = layers.sigmoid(logits)
        const anchor = space.pairs.map(([from, to]) => [to === from + 1 ? -1 : 0])
        const offAnchor = layers.add(probabilities, layers.constant(anchor))
        // The edge probabilities as a matrix, 0 for other pairs.
        const placed = Array.from({ length: count * count }, (_, entry) =>
          space.pairs.map(([from, to]) => (from * count + to === entry ? 1 : 0)),
        )
        const matrix = {
          ...layers.mixRows(placed, probabilities),
          rows: count,
          columns: count,
          stride: count,
        }
        const normal = logVariance.rows
        return [
          [layers.bernoulliLogs(layers.rowsAt(logits, tried), chosen), -utility],
          // KL(N(μ, σ²) ‖ N(0, 1)) = ½ Σ (μ² + σ² − ln σ² − 1), per node.
          [layers.square(mean), weights.divergence / 2 / normal],
          [layers.exp(logVariance), weights.divergence / 2 / normal],
          [logVariance, -weights.divergence / 2 / normal],
          [layers.square(offAnchor), weights.anchor / 2],
          [nuclearNorm(tape, matrix), weights.sparsity],
        ] as const
      })
      return layers.weightedSum(...terms.map(([x, factor]) => [x, factor / batch.length] as const))
    },
  }
}
