import { meanOf } from '../evaluation/statistics.ts'
import { tokensIn } from '../models/usage.ts'
import { isSimulatedModel } from '../simulator/model/simulated-name.ts'
import type { FollowedRun } from './followed-run.ts'

/** A run in the list of runs. */
export type RunRow = ReturnType<typeof runRow>

/** Scores of single updates jump, so a training score is the mean of this many. */
const window = 20

/** A trainer logs every call, so one that wrote nothing for this long has stopped. */
const silenceMs = 60_000

export function runRow(run: FollowedRun) {
  const { name, problem } = run
  if (problem !== undefined) return { name, status: 'damaged' as const, problem }
  const { record, updates, done } = run
  const last = updates.at(-1)
  const model = `${record.model.provider}/${record.model.model}`
  const recent = updates.flatMap(({ score }) => score ?? []).slice(-window)
  const evaluated = run.evaluations.findLast(
    ({ header }) => header.split === 'test' && header.organisation === 'trained',
  )
  return {
    name,
    status: statusOf(run),
    tasks: { name: record.tasks.name, title: record.tasks.title, metric: record.tasks.metric },
    model,
    simulated: isSimulatedModel(model),
    /** The trained policy on held-out questions. */
    score: evaluated && { ...evaluated.report.score, n: evaluated.report.n },
    /** On training questions, with sampled graphs. */
    trainingScore: recent.length === 0 ? undefined : { mean: meanOf(recent), n: recent.length },
    tokens: last === undefined ? 0 : tokensIn(last.spent),
    calls: last?.spent.calls ?? 0,
    cost: last?.spent.cost,
    minutes: last?.spent.minutes ?? 0,
    done: Math.max(done, updates.length === 0 ? 0 : last!.update + 1),
    updates: record.updates,
    createdAt: record.createdAt,
    lastUpdateAt: last?.at,
    evaluations: run.evaluations.length,
    revision: run.revision,
  }
}

function statusOf({ record, done, writtenAt }: FollowedRun): 'finished' | 'training' | 'stopped' {
  if (done >= record.updates) return 'finished'
  return Date.now() - writtenAt < silenceMs ? 'training' : 'stopped'
}
