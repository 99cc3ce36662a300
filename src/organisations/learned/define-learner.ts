import type { z } from 'zod'
import { RunFolder } from '../../store/run-folder.ts'
import type { OrganiserDefinition } from '../organisation.ts'

type LearnerDefinition<Options extends z.ZodObject> = Omit<OrganiserDefinition<Options>, 'organise' | 'drive'> &
  Required<Pick<OrganiserDefinition<Options>, 'learner'>>

/** An organisation that learns: in use it builds what its learner does, with the weights of its training or untrained. */
export function defineLearner<Options extends z.ZodObject>(
  definition: LearnerDefinition<Options>,
): OrganiserDefinition<Options> {
  return {
    ...definition,
    async organise({ library, seed, encoder, trained }, options) {
      const learner = await definition.learner({ library, seed, encoder: await encoder() }, options)
      if (trained !== undefined) {
        const checkpoint = new RunFolder(trained).readCheckpoint({ organisation: definition.name })
        if (checkpoint !== undefined) learner.parameters.write(checkpoint.parameters)
      }
      return (task) => learner.graphFor(task)
    },
  }
}
