import { meanOf } from '../evaluation/statistics.ts'
import { simulatedModelName } from '../simulator/model/simulated-name.ts'
import { type FollowedRun, tokensIn } from './followed-run.ts'

/** A run as a line of the list. */
export type RunRow = ReturnType<typeof runRow>

/** Single updates jump between right and wrong: a training score is the mean of this many. */
const window = 20

/** A trainer notes every call: one that has written nothing for this long is not at work. */
const silenceMs = 60_000

export function runRow(run: FollowedRun) {
  const { name, problem } = run
  if (problem !== undefined) return { name, status: 'damaged' as const, problem }
  const { record, updates, done } = run
  const last = updates.at(-1)
  const model = `${record.model.provider}/${record.model.model}`
  const recent = updates.slice(-window)
  const evaluated = run.evaluations.findLast(
    ({ header }) => header.split === 'test' && header.organisation === 'trained',
  )
  return {
    name,
    status: statusOf(run),
    tasks: { name: record.tasks.name, title: record.tasks.title, metric: record.tasks.metric },
    model,
    simulated: isSimulated(model),
    /** Of the trained policy on held-out questions. */
    score: evaluated && { ...evaluated.report.score, n: evaluated.report.n },
    /** On training questions, with graphs drawn to explore. */
    trainingScore:
      recent.length === 0 ? undefined : { mean: meanOf(recent.map(({ score }) => score)), n: recent.length },
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

/** Of a model as `provider/model`: the simulated one, or a server of it. */
export function isSimulated(model: string): boolean {
  return model.startsWith('simulated/') || model.endsWith(`/${simulatedModelName}`)
}
