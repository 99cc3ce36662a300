import type { z } from 'zod'
import type { GraphLearner } from '../../learning/graph-learner.ts'
import { RunError, RunFolder } from '../../store/run-folder.ts'
import type { OrganiserDefinition } from '../organisation.ts'

type LearnerDefinition<Options extends z.ZodObject> = Omit<
  OrganiserDefinition<Options>,
  'organise' | 'drive'
> &
  Required<Pick<OrganiserDefinition<Options>, 'learner'>>

/** An organisation that learns: in use it builds what its learner does, with the weights of its training or untrained. */
export function defineLearner<Options extends z.ZodObject>(
  definition: LearnerDefinition<Options>,
): OrganiserDefinition<Options> {
  return {
    ...definition,
    async organise({ library, seed, encoder, trained }, options) {
      const learner = await definition.learner({ library, seed, encoder: await encoder() }, options)
      if (trained !== undefined) useWeights(learner, new RunFolder(trained), definition.name)
      return (task) => learner.graphFor(task)
    },
  }
}

/** Gives a learner the weights of a run's checkpoint, the newest by default; tells which one it was. */
export function useWeights(learner: GraphLearner, run: RunFolder, name: string, update?: number): number {
  const checkpoint = run.readCheckpoint({ organisation: name }, update)
  if (checkpoint === undefined) throw new RunError(`The run ${run.path} has no checkpoint yet.`)
  learner.parameters.write(checkpoint.parameters)
  return checkpoint.update
}
