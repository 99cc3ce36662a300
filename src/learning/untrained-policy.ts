import { libraryEmbeddings } from '../encoder/library-embeddings.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { Library } from '../library/library.ts'
import { paperAdam } from '../numerics/adam.ts'
import { ConstructionPolicy, type PolicyOptions } from '../policy/policy.ts'
import type { TrainingSettings } from '../settings/training.ts'
import { lossWeights } from './loss.ts'
import { PolicyLearner } from './policy-learner.ts'

/** Everything about a policy except its weights. */
export async function policyOptions(
  library: Library,
  { hidden, maxUnits, maxDepth, dropout, gain }: TrainingSettings,
  encoder: FrozenTextEncoder,
): Promise<PolicyOptions> {
  return {
    dimensions: { semantic: encoder.dims, hidden, maxUnits, maxDepth },
    roles: library.space,
    vectors: await libraryEmbeddings(library.texts, encoder),
    dropoutRate: dropout,
    gain,
  }
}

/** The starting point of a training, fully determined by library, settings and encoder. */
export async function untrainedLearner(
  library: Library,
  settings: TrainingSettings,
  encoder: FrozenTextEncoder,
): Promise<PolicyLearner> {
  const options = await policyOptions(library, settings, encoder)
  return new PolicyLearner(ConstructionPolicy.initialize(options, settings.seed), {
    adam: { ...paperAdam, learningRate: settings.learningRate },
    weights: lossWeights(settings),
  })
}
