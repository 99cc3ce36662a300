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
 * An organisation that learns. In use, its learner builds the graphs with the weights of a run that trained it: the current
 * run, or the one named by the option `run`.
 */
export function defineLearner<Options extends z.ZodObject>(definition: LearnerDefinition<Options>) {
  const { name, learner } = definition
  const options = definition.options.extend({
    run: z.string().optional().describe('In use: name or folder of the run that trained it.'),
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
          `${name} must be trained before use: \`magic train TASKS --organisation ${name} --name NAME\`, and then \`magic eval NAME\`, or ${name}:run=NAME beside others.`,
        )
      const encoder = await open()
      if (record.library !== library.fingerprint || record.encoder.fingerprint !== inputFingerprint(encoder))
        throw new Problem(`The run ${record.name} trained ${name} with other roles or another text encoder.`)
      const means = { library, profile, encoder, seed: record.training.seed }
      const opened = await learner(means, definition.options.parse(record.organisation.options))
      const update = useWeights(opened, folder, name)
      return { graphFor: (task) => opened.graphFor(task, seed), facts: { update } }
    },
  } satisfies OrganiserDefinition<typeof options> as unknown as OrganiserDefinition
}

/** Loads a checkpoint of a run into a learner, by default the newest, and returns its update. */
export function useWeights(learner: GraphLearner, run: RunFolder, name: string, update?: number): number {
  const checkpoint = run.readCheckpoint({ organisation: name }, update)
  if (checkpoint === undefined) throw new RunError(`The run ${run.path} has no checkpoint yet.`)
  learner.parameters.write(checkpoint.parameters)
  return checkpoint.update
}
