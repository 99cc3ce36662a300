import { departuresOf } from '../evaluation/run-overview.ts'
import { moneyIn } from '../models/prices.ts'
import { runSettings } from '../settings/run-settings.ts'
import { settingsOf } from '../settings/setting.ts'
import type { RunRecord } from '../store/run-folder.ts'
import { actionHeat } from './action-heat.ts'
import { builtGraphs } from './built-graphs.ts'
import { evaluationRows } from './evaluation-rows.ts'
import type { FollowedRun, FollowedUpdate } from './followed-run.ts'
import { runFiles } from './run-files.ts'
import { runRow } from './run-row.ts'

/** A run's page, except for its curves, which grow, and its questions. */
export type RunDetail = ReturnType<typeof runDetail>

export function runDetail(run: FollowedRun) {
  const { record, updates } = run
  const { tasks, encoder, profile, version, createdAt, concurrency, budget, tools } = record
  return {
    row: runRow(run),
    about: {
      tasks,
      encoder,
      profile,
      version,
      createdAt,
      concurrency,
      budget,
      tools,
      folder: run.folder.path,
    },
    settings: settingRows(record),
    tokens: {
      made: updates.reduce((sum, { made }) => sum + made, 0),
      reused: updates.reduce((sum, { reused }) => sum + reused, 0),
      spent: updates.at(-1)?.spent,
    },
    /** Attempts beyond the first of each call. */
    retries: updates.reduce((sum, { retries }) => sum + retries, 0),
    heat: actionHeat(updates),
    graphs: builtGraphs(run),
    evaluations: evaluationRows(run.evaluations),
    files: runFiles(run.folder.path),
  }
}

/** What the charts draw: a value per update in every column. */
export type RunCurves = ReturnType<typeof runCurves>

/** Leaves out the first `after` updates: the page appends the rest to what it has. */
export function runCurves({ updates }: Pick<FollowedRun, 'updates'>, after: number) {
  const part = updates.slice(after)
  const column = <Value extends number | null>(read: (update: FollowedUpdate) => Value) => part.map(read)
  return {
    after,
    update: column(({ update }) => update + 1),
    score: column(({ score }) => score),
    return: column((update) => update.return),
    loss: column(({ loss }) => loss.total),
    policyLoss: column(({ loss }) => loss.policy),
    divergence: column(({ loss }) => loss.divergence),
    entropy: column(({ loss }) => loss.entropy),
    temperature: column(({ temperature }) => temperature),
    made: column(({ made }) => made),
    reused: column(({ reused }) => reused),
    seconds: column(({ wallMs }) => wallMs / 1000),
    cost: column(({ cost }) => moneyIn(cost)),
  }
}

/** Every setting with its meaning, and the paper's value where the run differs. */
function settingRows(record: RunRecord) {
  const departures = new Map(departuresOf(record).map(({ name, values }) => [name, values[0]]))
  const { training, execution, budget } = runSettings
  const groups = [
    [settingsOf(training), record.training, ''],
    [settingsOf(execution), record.execution, 'execution.'],
    [settingsOf(budget), record.budget, 'budget.'],
  ] as const
  const known = groups.flatMap(([settings, values, group]) =>
    settings.map(({ key, description }) => {
      const name = `${group}${key}`
      const differs = departures.has(name)
      const paper = departures.get(name)
      departures.delete(name)
      return { name, description, value: valueAt(values, key), differs, paper }
    }),
  )
  // Settings without a description here, such as those of an earlier version.
  const others = [...departures].map(([name, paper]) => ({
    name,
    description: '',
    value: undefined,
    differs: true,
    paper,
  }))
  return [...known, ...others]
}

function valueAt(values: object, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((part, field) => (part as Record<string, unknown> | undefined)?.[field], values)
}
