import { rememberRecent } from '../encoder/recent-texts.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { Library } from '../library/library.ts'
import type { Task } from '../library/task.ts'
import { useWeights } from '../organisations/learned/define-learner.ts'
import { learnerOfRun } from '../organisations/learned/learner-source.ts'
import { RunError, type RunFolder, type RunRecord } from '../store/run-folder.ts'
import type { LoadOptions, OrganisationOptions, TrainedPolicy } from './trained-policy.ts'

/** Loads what a learning organisation has learned in a run, with the interface of a trained policy. */
export async function loadLearner(
  folder: RunFolder,
  run: RunRecord,
  library: Library,
  encoder: FrozenTextEncoder,
  { update: wanted }: LoadOptions,
): Promise<TrainedPolicy> {
  const source = learnerOfRun(run)!
  const { seed } = run.training
  const learner = await source.open({ library, profile: run.profile, encoder: rememberRecent(encoder), seed })
  const update = wanted === 0 ? 0 : useWeights(learner, folder, source.name, wanted)
  const organisation = ({ name, seed: by, restriction, temperature }: OrganisationOptions = {}) => {
    if (restriction !== undefined || temperature !== undefined)
      throw new RunError(
        `The run ${run.name} has trained ${source.name}: restrictions and temperatures are for policies.`,
      )
    const graphFor = (task: Task) => learner.graphFor(task, by)
    return {
      name: name ?? (update === 0 ? 'untrained' : 'trained'),
      description:
        update === 0
          ? `A graph by the untrained ${source.name} for each question.`
          : `A graph by ${source.name} for each question, after ${update} updates.`,
      graphFor,
      constructionFor: async (task: Task) => ({
        graph: await graphFor(task),
        temperature: 1,
        explain: () => [],
      }),
    }
  }
  return { run, folder, update, library, encoder, organisation }
}
