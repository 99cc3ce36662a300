import { libraryEmbeddings } from '../encoder/library-embeddings.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { Library } from '../library/library.ts'
import { ConstructionPolicy, type PolicyOptions } from '../policy/policy.ts'
import type { TrainingSettings } from '../settings/training.ts'

type PolicySettings = Pick<TrainingSettings, 'hidden' | 'maxUnits' | 'maxDepth' | 'dropout' | 'seed'>

/** All of a policy but its weights. */
export async function policyOptions(
  library: Library,
  { hidden, maxUnits, maxDepth, dropout }: PolicySettings,
  encoder: FrozenTextEncoder,
): Promise<PolicyOptions> {
  return {
    dimensions: { semantic: encoder.dims, hidden, maxUnits, maxDepth },
    roles: library.space,
    vectors: await libraryEmbeddings(library.texts, encoder),
    dropoutRate: dropout,
  }
}

/** The policy that a training begins with: fixed by library, settings and encoder. */
export async function untrainedPolicy(
  library: Library,
  settings: PolicySettings,
  encoder: FrozenTextEncoder,
): Promise<ConstructionPolicy> {
  return ConstructionPolicy.initialize(await policyOptions(library, settings, encoder), settings.seed)
}
