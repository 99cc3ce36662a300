import { PolicyLearner } from '../../src/learning/policy-update.ts'
import { ConstructionPolicy } from '../../src/policy/policy.ts'
import type { OpenPolicy, PolicyImplementation, UpdateSettings } from './implementation.ts'

/** The product's network: batched, factored, in single precision on WebAssembly kernels. */
export const fast: PolicyImplementation = {
  name: 'fast',
  precision: 'float32',
  open(setup): OpenPolicy {
    const policy = new ConstructionPolicy({ ...setup, vectors: setup.embeddings }, setup.policy)
    const reference = policy.freeze(setup.reference)
    let learner: PolicyLearner | undefined
    const learnerWith = ({ loss, adam }: UpdateSettings) => {
      learner ??= new PolicyLearner(policy, { adam, weights: loss, reference })
      return learner
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
          entropy: distribution.entropy(),
          divergence: distribution.divergence(fixed.distribution),
        }
      },
      update(group, settings) {
        const learning = learnerWith(settings)
        const report = learning.accumulateGradients(group)
        const gradients = flat(policy.parameters.readGradients())
        learning.applyGradients()
        return { ...report, gradients, weightsAfter: flat(policy.parameters.read()) }
      },
    }
  },
}

function flat(tensors: ReadonlyMap<string, { data: Float32Array }>): Map<string, Float32Array> {
  return new Map([...tensors].map(([name, { data }]) => [name, data]))
}
