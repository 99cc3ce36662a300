import type { EvaluationHeader } from '../evaluation/evaluate.ts'
import { restrictedAtUse, untrainedOrganisation } from '../evaluation/named-organisation.ts'
import type { QuestionRecord } from '../evaluation/organisation-report.ts'
import { loadPolicy, type OrganisationOptions, type TrainedPolicy } from '../evaluation/trained-policy.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { Task } from '../library/task.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { UnknownError } from './run-shelf.ts'

export type RebuiltConstruction = Awaited<ReturnType<typeof rebuiltConstruction>>

/** The decisions behind an evaluated question's graph, replayed with the same weights and draws. */
export async function rebuiltConstruction(
  folder: RunFolder,
  { organisation, about }: Pick<EvaluationHeader, 'organisation' | 'about'>,
  task: Task,
  record: Pick<QuestionRecord, 'graphKey'>,
) {
  const options = optionsOf(organisation)
  if (options === undefined)
    throw new UnknownError(
      `No policy built this graph for this question (${organisation}), so there are no decisions to show.`,
    )
  const policy = await policyOf(folder, organisation === 'untrained' ? 0 : numberOf(about['update']))
  const seed = numberOf(about['seed'])
  const organiser =
    organisation === 'untrained'
      ? untrainedOrganisation(policy, seed)
      : policy.organisation({ seed, ...options })
  const construction = await organiser.constructionFor(task)
  return {
    update: policy.update,
    temperature: construction.temperature,
    steps: construction.explain(),
    units: construction.graph.units,
    /** False if the question or this machine's arithmetic has changed. */
    isSame: graphKey(construction.graph) === record.graphKey,
  }
}

/** How the policy was used, by the name of the evaluated organisation. */
function optionsOf(organisation: string): OrganisationOptions | undefined {
  const use = organisation.split(', ').at(-1)!
  if (use === 'trained' || use === 'untrained') return {}
  if (use === 'most-probable') return { temperature: 0 }
  const restricted = Object.entries(restrictedAtUse).find(([name]) => name === use)
  return restricted && { restriction: restricted[1] }
}

function numberOf(value: string | number | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

const mostPolicies = 4
const policies = new Map<string, Promise<TrainedPolicy>>()

/** Keeps the most recently used weights for the next question. */
function policyOf(folder: RunFolder, update = folder.checkpoints().at(-1)): Promise<TrainedPolicy> {
  const key = `${update} ${folder.path}`
  const policy = policies.get(key) ?? loadPolicy(folder, { update })
  policies.delete(key)
  policies.set(key, policy)
  policy.catch(() => policies.delete(key))
  for (const oldest of [...policies.keys()].slice(0, -mostPolicies)) policies.delete(oldest)
  return policy
}
