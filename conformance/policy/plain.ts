import { type PlainTraining, plainUpdate } from '../../src/learning/reference/update.ts'
import { freshAdam } from '../../src/numerics/plain/adam.ts'
import type { Value } from '../../src/numerics/plain/value.ts'
import { PlainDistribution } from '../../src/policy/reference/distribution.ts'
import { PlainNetwork } from '../../src/policy/reference/network.ts'
import type { OpenPolicy, PolicyImplementation } from './implementation.ts'

/** The slow, obvious twin, in double precision. */
export const plain: PolicyImplementation = {
  name: 'plain',
  precision: 'float64',
  open(setup): OpenPolicy {
    const reference = new PlainNetwork(setup.reference, setup, true)
    let policy = new PlainNetwork(setup.policy, setup, true)
    let training: PlainTraining = { parameters: setup.policy, adam: freshAdam }
    return {
      evaluate({ temperature, ...state }) {
        const decision = policy.decide(state)
        const distribution = new PlainDistribution(decision, temperature)
        const fixed = new PlainDistribution(reference.decide({ ...state, dropoutKeep: null }), temperature)
        return {
          context: decision.context.data,
          nodeStates: decision.nodeStates.map(({ data }) => data),
          masks: decision.masks,
          roleLogits: numbers(decision.roleLogits),
          granularityLogits: numbers(decision.granularityLogits),
          edgeLogits: numbers(decision.edgeLogits),
          logProbability: (action) => distribution.logProbability(action).number,
          entropy: distribution.entropy().number,
          divergence: distribution.divergence(fixed).number,
        }
      },
      update(group, settings) {
        const [loss, after] = plainUpdate(training, reference, group, settings.loss, settings.adam)
        training = after
        policy = new PlainNetwork(training.parameters, setup, true)
        const weights = [...training.parameters].map(([name, { data }]) => [name, data] as const)
        return { ...loss, weightsAfter: new Map(weights) }
      },
    }
  },
}

function numbers(logits: readonly (Value | null)[]): number[] {
  return logits.map((logit) => logit?.number ?? Number.NaN)
}
