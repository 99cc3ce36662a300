import { createHash } from 'node:crypto'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { untrainedLearner } from '../learning/untrained-policy.ts'
import type { ParameterValues } from '../numerics/parameters.ts'
import { Problem } from '../problem.ts'
import { type GivenTrainingSettings, trainingSettings } from '../settings/training.ts'
import type { TaskSet } from '../tasks/task-set.ts'

/** SHA-256 of a policy's weights. */
export function weightsDigest(parameters: ParameterValues): string {
  const digest = createHash('sha256')
  for (const [name, { data }] of parameters)
    digest.update(name).update(new Uint8Array(Float32Array.from(data).buffer))
  return digest.digest('hex')
}

/**
 * Checks that all variants of a study start from the same weights, or the comparison would be meaningless. Returns
 * their digest.
 */
export async function checkInitialWeights(
  set: TaskSet,
  encoder: FrozenTextEncoder,
  variants: readonly GivenTrainingSettings[],
): Promise<string | undefined> {
  const digests = new Set<string>()
  for (const settings of variants) {
    const { policy } = await untrainedLearner(set.library, trainingSettings.parse(settings), encoder)
    digests.add(weightsDigest(policy.parameters.read()))
  }
  if (digests.size > 1)
    throw new Problem(
      `The variants on ${set.name} do not start from the same weights. Use the same seed and width for all of them.`,
    )
  return [...digests][0]
}
