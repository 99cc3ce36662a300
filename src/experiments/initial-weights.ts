import { createHash } from 'node:crypto'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { untrainedLearner } from '../learning/untrained-policy.ts'
import type { ParameterValues } from '../numerics/parameters.ts'
import { Problem } from '../problem.ts'
import { type GivenTrainingSettings, trainingSettings } from '../settings/training.ts'
import type { TaskSet } from '../tasks/task-set.ts'

/** Of a policy's weights. */
export function weightsDigest(parameters: ParameterValues): string {
  const digest = createHash('sha256')
  for (const [name, { data }] of parameters)
    digest.update(name).update(new Uint8Array(Float32Array.from(data).buffer))
  return digest.digest('hex')
}

/** All variants of a study begin from the same weights, or the comparison says nothing. Gives their digest. */
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
      `The variants on ${set.name} do not begin from the same weights. Give all of them the same seed and width.`,
    )
  return [...digests][0]
}
