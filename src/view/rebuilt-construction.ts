import type { EvaluationHeader } from '../evaluation/evaluate.ts'
import type { QuestionRecord } from '../evaluation/organisation-report.ts'
import { loadPolicy, type TrainedPolicy } from '../evaluation/trained-policy.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { Restriction } from '../graph/legality.ts'
import type { Task } from '../library/task.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { UnknownError } from './run-shelf.ts'

export type RebuiltConstruction = Awaited<ReturnType<typeof rebuiltConstruction>>

/** How a policy came to the graph of an evaluated question: built again with the same weights and draws. */
export async function rebuiltConstruction(
  folder: RunFolder,
  { organisation, about }: Pick<EvaluationHeader, 'organisation' | 'about'>,
  task: Task,
  record: Pick<QuestionRecord, 'graphKey'>,
) {
  const restriction = restrictionOf(organisation)
  if (restriction === undefined)
    throw new UnknownError(`No policy built this graph: '${organisation}' is the same for every question.`)
  const policy = await policyOf(folder, organisation === 'untrained' ? 0 : numberOf(about['update']))
  const usual = restriction === 'mixed' ? {} : { restriction }
  const construction = await policy
    .organisation({ seed: numberOf(about['seed']), ...usual })
    .constructionFor(task)
  return {
    update: policy.update,
    temperature: construction.temperature,
    steps: construction.explain(),
    units: construction.graph.units,
    /** False where the question or the machine's arithmetic is not what it was. */
    isSame: graphKey(construction.graph) === record.graphKey,
  }
}

function restrictionOf(organisation: string): Restriction | undefined {
  if (organisation === 'trained' || organisation === 'untrained') return 'mixed'
  return (['all-atomic', 'all-group'] as const).find((name) => organisation.split(', ').at(-1) === name)
}

function numberOf(value: string | number | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

const mostPolicies = 4
const policies = new Map<string, Promise<TrainedPolicy>>()

/** Weights are kept for the next question; those of checkpoints that were used last. */
function policyOf(folder: RunFolder, update = folder.checkpoints().at(-1)): Promise<TrainedPolicy> {
  const key = `${update} ${folder.path}`
  const policy = policies.get(key) ?? loadPolicy(folder, { update })
  policies.delete(key)
  policies.set(key, policy)
  policy.catch(() => policies.delete(key))
  for (const oldest of [...policies.keys()].slice(0, -mostPolicies)) policies.delete(oldest)
  return policy
}
