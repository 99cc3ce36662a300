import type { Random } from '../../numerics/random.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import { type Layers, linearShapes } from './network.ts'

/** Standard deviation of the prior; also scales each latent's own deviation. */
const deviation = 0.1
const variance = deviation ** 2

/** The shapes of MasRouter's variational autoencoder. */
export function autoencoderShapes(name: string, inputs: number, hidden: number) {
  return {
    ...linearShapes(`${name}.fc1`, inputs, hidden),
    ...linearShapes(`${name}.fc21`, hidden, hidden),
    ...linearShapes(`${name}.fc22`, hidden, hidden),
    ...linearShapes(`${name}.fc3`, hidden, hidden),
    ...linearShapes(`${name}.fc4`, hidden, inputs),
  }
}

/** Latents z = μ + 0.1·σ·ε of each row, and the loss: mean squared error of the decoded rows, and KL to N(0, 0.1²). */
export function autoencode(
  layers: Layers,
  name: string,
  x: Tensor,
  noise: readonly ArrayLike<number>[],
): { readonly z: Tensor; readonly loss: Tensor } {
  const hidden = layers.relu(layers.linear(`${name}.fc1`, x))
  const mean = layers.linear(`${name}.fc21`, hidden)
  const logVariance = layers.linear(`${name}.fc22`, hidden)
  const spread = layers.affine(layers.exp(layers.affine(logVariance, 0.5)), deviation)
  const z = layers.add(mean, layers.multiply(spread, layers.constant(noise)))
  const decoded = layers.linear(`${name}.fc4`, layers.relu(layers.linear(`${name}.fc3`, z)))
  const off = layers.add(decoded, layers.affine(x, -1))
  const [entries, latents] = [x.rows * x.columns, mean.rows * mean.columns]
  // −½ · mean(1 − ln v₂ + ln v − (μ² + v)/v₂)
  const fixed = -0.5 * (1 - Math.log(variance))
  const loss = layers.weightedSum(
    [layers.square(off), 1 / entries],
    [logVariance, -0.5 / latents],
    [layers.square(mean), 0.5 / variance / latents],
    [layers.exp(logVariance), 0.5 / variance / latents],
    [layers.constant([[1]]), fixed],
  )
  return { z, loss }
}

export function drawNoise(rows: number, columns: number, random: Random): number[][] {
  return Array.from({ length: rows }, () => Array.from({ length: columns }, () => random.normal()))
}
