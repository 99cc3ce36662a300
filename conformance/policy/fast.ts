import { PolicyLearner } from '../../src/learning/policy-learner.ts'
import { entropy, klDivergence } from '../../src/policy/kl-and-entropy.ts'
import { ConstructionPolicy } from '../../src/policy/policy.ts'
import type { OpenPolicy, PolicyImplementation, UpdateSettings } from './implementation.ts'

/** The product's network: batched, factored, in single precision on WebAssembly kernels. */
export const fast: PolicyImplementation = {
  name: 'fast',
  precision: 'float32',
  open(setup): OpenPolicy {
    const start = () => {
      const policy = new ConstructionPolicy({ ...setup, vectors: setup.embeddings }, setup.policy)
      return { policy, reference: policy.freeze(setup.reference) }
    }
    const { policy, reference } = start()
    let learners: { training: PolicyLearner; watched: PolicyLearner } | undefined
    const learnersWith = ({ loss, adam }: UpdateSettings) => {
      // An update keeps no gradients, so a second policy computes them.
      learners ??= {
        training: new PolicyLearner(policy, { adam, weights: loss, reference }),
        watched: new PolicyLearner(start().policy, { adam, weights: loss, reference }),
      }
      return learners
    }
    return {
      evaluate({ query, graph, ...options }) {
        const { masks, logits, context, nodeStates, distribution } = policy.inspect(query, graph, options)
        const fixed = reference.inspect(query, graph, { ...options, dropoutKeep: null })
        return {
          context,
          nodeStates,
          masks,
          roleLogits: logits.roles,
          granularityLogits: logits.realizations,
          edgeLogits: logits.edges,
          logProbability: (action) => distribution.logProbability(action),
          entropy: entropy(distribution),
          divergence: klDivergence(distribution, fixed.distribution),
        }
      },
      update(group, settings) {
        const { training, watched } = learnersWith(settings)
        watched.accumulateGradients(group)
        const gradients = flat(watched.policy.parameters.readGradients())
        watched.applyGradients()
        const report = training.update(group)
        return { ...report, gradients, weightsAfter: flat(policy.parameters.read()) }
      },
    }
  },
}

function flat(tensors: ReadonlyMap<string, { data: Float32Array }>): Map<string, Float32Array> {
  return new Map([...tensors].map(([name, { data }]) => [name, data]))
}
