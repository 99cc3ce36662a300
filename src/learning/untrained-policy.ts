import { libraryEmbeddings } from '../encoder/library-embeddings.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { Library } from '../library/library.ts'
import { ConstructionPolicy } from '../policy/policy.ts'
import type { TrainingSettings } from '../settings/training.ts'

/** The policy that a training begins with: fixed by library, settings and encoder. */
export async function untrainedPolicy(
  library: Library,
  settings: Pick<TrainingSettings, 'hidden' | 'maxUnits' | 'maxDepth' | 'dropout' | 'seed'>,
  encoder: FrozenTextEncoder,
): Promise<ConstructionPolicy> {
  const { hidden, maxUnits, maxDepth, dropout, seed } = settings
  const options = {
    dimensions: { semantic: encoder.dims, hidden, maxUnits, maxDepth },
    roles: library.space,
    vectors: await libraryEmbeddings(library.texts, encoder),
    dropoutRate: dropout,
  }
  return ConstructionPolicy.initialize(options, seed)
}
