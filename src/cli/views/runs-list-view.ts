import type { ListedRun } from '../../evaluation/run-overview.ts'
import { meanOf } from '../../evaluation/statistics.ts'
import { duration, percent } from '../display/numbers.ts'
import type { Screen } from '../display/screen.ts'
import { terminalTable } from '../display/table.ts'

/** Single updates jump between right and wrong. */
const scoreWindow = 20

/** The runs of a folder as a table. */
export function listText(listed: readonly ListedRun[], runs: string, screen: Screen): string {
  if (listed.length === 0) return `There are no runs in ${runs} yet. \`magic train\` makes one.\n`
  const rows = listed.map((run) => {
    if ('problem' in run) return [run.name, '', '', `cannot be read: ${run.problem}`, '', '']
    const { record, done, isFinished } = run.overview
    const score = lastScore(run)
    return [
      run.name,
      record.tasks.name,
      `${done}/${record.updates}`,
      isFinished ? 'finished' : 'unfinished',
      score === undefined ? '–' : percent(score),
      `${duration(Date.now() - Date.parse(lastSign(run)))} ago`,
    ]
  })
  const table = {
    columns: [
      { header: 'run' },
      { header: 'tasks' },
      { header: 'updates', kind: 'number' as const },
      { header: 'state' },
      { header: 'training score', kind: 'number' as const },
      { header: 'last update', kind: 'number' as const },
    ],
    rows,
  }
  const legend = `Training score: the mean of the last ${scoreWindow} updates. \`magic show RUN\` tells more.`
  return `${terminalTable(table, screen)}\n${legend}\n`
}

export function listJson(run: ListedRun): object {
  if ('problem' in run) return { name: run.name, folder: run.folder.path, problem: run.problem }
  const { record, done, isFinished } = run.overview
  return {
    name: run.name,
    folder: run.folder.path,
    tasks: record.tasks.name,
    model: `${record.model.provider}/${record.model.model}`,
    done,
    updates: record.updates,
    finished: isFinished,
    trainingScore: lastScore(run) ?? null,
    createdAt: record.createdAt,
    lastUpdateAt: lastSign(run),
  }
}

type ReadableRun = Extract<ListedRun, { overview: unknown }>

function lastScore({ overview: { updates } }: ReadableRun): number | undefined {
  const scores = updates.slice(-scoreWindow).map(({ score }) => score)
  return scores.length === 0 ? undefined : meanOf(scores)
}

function lastSign({ overview: { updates, record } }: ReadableRun): string {
  return updates.at(-1)?.at ?? record.createdAt
}
