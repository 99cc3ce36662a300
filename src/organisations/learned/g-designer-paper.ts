import { nuclearNorm } from '../../numerics/nuclear-norm.ts'
import {
  add,
  affine,
  bernoulliLogs,
  beside,
  exp,
  mixRows,
  multiply,
  relu,
  rowsAt,
  sigmoid,
  square,
  total,
} from '../../numerics/operations.ts'
import type { Random } from '../../numerics/random.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { AgentCount } from '../agents.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type Edge, questionVector } from './agents.ts'
import { type DrawnDesign, designSpace } from './design-space.ts'
import { type Layers, linearShapes, Network } from './network.ts'
import type { GraphSampler } from './policy-gradient.ts'
import { convolutionWeights, pathEdges } from './propagation.ts'

/** Entries of a latent vector, as in the released code. */
const latent = 16
/** Weights that the paper does not state. */
const weights = { divergence: 0.01, anchor: 0.1, sparsity: 0.01 } as const

interface DrawnVariation extends DrawnDesign {
  /** What its latents were drawn with, so that the update sees the same. */
  readonly noise: readonly number[][]
}

/**
 * The paper's network: a variational graph autoencoder over the agents and a virtual task node that all of them are joined to.
 * Its loss adds to the policy gradient how far the latents are from a standard normal, how far the drawn graph is from the
 * anchor, a chain, and how dense it is: the nuclear norm of its edges' probabilities.
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
    mixRows(layers.tape, convolution, layers.linear(name, x))
  const decode = (layers: Layers, question: Float32Array, noise: readonly number[][]) => {
    const { tape } = layers
    // The task node is described by the question alone.
    const task = [...Array.from(question), ...Array.from(question)]
    const x = layers.constant([...space.features(question), task])
    const hidden = relu(tape, layer(layers, 'gcn', x))
    const mean = layer(layers, 'mean', hidden)
    const logVariance = layer(layers, 'log_variance', hidden)
    const deviation = exp(tape, affine(tape, logVariance, 0.5))
    const z = add(tape, mean, multiply(tape, deviation, layers.constant(noise)))
    const at = (places: readonly number[]) => rowsAt(tape, z, places)
    const ends = beside(
      tape,
      at(space.pairs.map(([from]) => from)),
      at(space.pairs.map(([, to]) => to)),
      at(space.pairs.map(() => count)),
    )
    const logits = layers.linear('decoder.1', relu(tape, layers.linear('decoder.0', ends)))
    return { logits, mean, logVariance }
  }
  return {
    network,
    read: (task) => questionVector(task, encoder),
    draw(question, random) {
      const noise = drawNoise(count + 1, random)
      const values = network.run((layers) => layers.values(decode(layers, question, noise).logits))
      const probabilities = values.map((value) => 1 / (1 + Math.exp(-value)))
      return { ...space.decide(probabilities, () => random.uniform()), noise }
    },
    loss(layers, batch) {
      const { tape } = layers
      const terms = batch.flatMap(({ question, drawn: { tried, chosen, noise }, utility }) => {
        const { logits, mean, logVariance } = decode(layers, question, noise)
        const probabilities = sigmoid(tape, logits)
        const anchor = space.pairs.map(([from, to]) => [to === from + 1 ? -1 : 0])
        const offAnchor = add(tape, probabilities, layers.constant(anchor))
        // The edges' probabilities as a matrix; what is no pair is 0.
        const placed = Array.from({ length: count * count }, (_, entry) =>
          space.pairs.map(([from, to]) => (from * count + to === entry ? 1 : 0)),
        )
        const matrix = { ...mixRows(tape, placed, probabilities), rows: count, columns: count, stride: count }
        const normal = logVariance.rows
        return [
          [bernoulliLogs(tape, rowsAt(tape, logits, tried), chosen), -utility],
          // KL(N(μ, σ²) ‖ N(0, 1)) = ½ Σ (μ² + σ² − ln σ² − 1), per node.
          [square(tape, mean), weights.divergence / 2 / normal],
          [exp(tape, logVariance), weights.divergence / 2 / normal],
          [logVariance, -weights.divergence / 2 / normal],
          [square(tape, offAnchor), weights.anchor / 2],
          [nuclearNorm(tape, matrix), weights.sparsity],
        ] as const
      })
      return total(tape, ...terms.map(([x, factor]) => [x, factor / batch.length] as const))
    },
  }
}

function drawNoise(rows: number, random: Random): number[][] {
  return Array.from({ length: rows }, () => Array.from({ length: latent }, () => random.normal()))
}
