import { z } from 'zod'
import { inputFingerprint } from '../../encoder/query-embedding.ts'
import type { GraphLearner } from '../../learning/graph-learner.ts'
import { Problem } from '../../problem.ts'
import { findRun, RunError, RunFolder } from '../../store/run-folder.ts'
import type { LearnerMeans, OrganiserDefinition } from '../organisation.ts'

type LearnerDefinition<Options extends z.ZodObject> = Omit<
  OrganiserDefinition<Options>,
  'organise' | 'drive' | 'learner'
> & {
  learner(means: LearnerMeans, options: z.output<Options>): GraphLearner | Promise<GraphLearner>
}

/**
 * An organisation that learns. In use it builds what its learner does, with the weights of a run that has trained it: the run
 * at hand, or the one that the option `run` names.
 */
export function defineLearner<Options extends z.ZodObject>(definition: LearnerDefinition<Options>) {
  const { name, learner } = definition
  const options = definition.options.extend({
    run: z.string().optional().describe('In use: name or folder of the run that has trained it.'),
  })
  return {
    ...definition,
    options,
    learner: (means: LearnerMeans, given: unknown) => learner(means, definition.options.parse(given)),
    async organise({ library, profile, seed, encoder: open, trained, runs }, given) {
      const { run } = given as { readonly run?: string }
      const folder =
        run !== undefined ? findRun(run, runs) : trained === undefined ? undefined : new RunFolder(trained)
      const record = folder?.exists ? folder.readRecord() : undefined
      if (folder === undefined || record?.organisation?.name !== name)
        throw new Problem(
          `${name} learns before it is used: \`magic train TASKS --organisation ${name} --name NAME\`, and then \`magic eval NAME\`, or ${name}:run=NAME beside others.`,
        )
      const encoder = await open()
      if (record.library !== library.fingerprint || record.encoder.fingerprint !== inputFingerprint(encoder))
        throw new Problem(
          `The run ${record.name} has trained ${name} with other roles or another text encoder.`,
        )
      const means = { library, profile, encoder, seed: record.training.seed }
      const opened = await learner(means, definition.options.parse(record.organisation.options))
      const update = useWeights(opened, folder, name)
      return { graphFor: (task) => opened.graphFor(task, seed), facts: { update } }
    },
  } satisfies OrganiserDefinition<typeof options> as unknown as OrganiserDefinition
}

/** Gives a learner the weights of a run's checkpoint, the newest by default; tells which one it was. */
export function useWeights(learner: GraphLearner, run: RunFolder, name: string, update?: number): number {
  const checkpoint = run.readCheckpoint({ organisation: name }, update)
  if (checkpoint === undefined) throw new RunError(`The run ${run.path} has no checkpoint yet.`)
  learner.parameters.write(checkpoint.parameters)
  return checkpoint.update
}
