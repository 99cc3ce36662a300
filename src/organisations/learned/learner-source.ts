import { z } from 'zod'
import type { LearnerSource } from '../../learning/graph-learner.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { Problem } from '../../problem.ts'
import type { RunRecord } from '../../store/run-folder.ts'
import type { OrganisationDefinition } from '../organisation.ts'
import { learners } from './list.ts'

/** The learner to train: a listed organisation by name, or your own. */
export function learnerSource(
  given: string | OrganisationDefinition,
  options: Readonly<Record<string, unknown>> = {},
): LearnerSource {
  const definition = typeof given === 'string' ? learners.find(({ name }) => name === given) : given
  if (definition?.learner === undefined)
    throw new Problem(
      `There is no trainable organisation '${typeof given === 'string' ? given : given.name}'. These can be trained: ${learners.map(({ name }) => name).join(', ')}.`,
    )
  const checked = definition.options.omit({ run: true }).strict().safeParse(options)
  if (!checked.success)
    throw new Problem(
      `An option of ${definition.name} is wrong. ${z.prettifyError(checked.error)} Its options: ${Object.keys(
        definition.options.shape,
      )
        .filter((one) => one !== 'run')
        .join(', ')}.`,
    )
  return {
    name: definition.name,
    options: JSON.parse(JSON.stringify(checked.data)) as JsonObject,
    open: (means) => definition.learner!(means, checked.data),
  }
}

/** The learner a run was started with; undefined if the run trains a policy. */
export function learnerOfRun({ organisation }: Pick<RunRecord, 'organisation'>): LearnerSource | undefined {
  return organisation && learnerSource(organisation.name, organisation.options)
}
