import type { FollowedUpdate } from './followed-run.ts'

/** How often each role was placed, as one agent or as a group, in the course of training. */
export type ActionHeat = ReturnType<typeof actionHeat>

/** More columns would be too narrow to see. */
const mostColumns = 60

/** A column is a stretch of updates; `shares` are of all units placed in it. Rows used most at the end come first. */
export function actionHeat(updates: readonly Pick<FollowedUpdate, 'update' | 'actions'>[]) {
  const columns = Math.min(mostColumns, updates.length)
  const starts = Array.from({ length: columns }, (_, column) =>
    Math.floor((column * updates.length) / columns),
  )
  const counts = new Map<string, { role: string; granularity: 'atomic' | 'group'; placed: number[] }>()
  const totals = new Array<number>(columns).fill(0)
  for (const [column, start] of starts.entries()) {
    for (const { actions } of updates.slice(start, starts[column + 1])) {
      for (const [role, placed] of Object.entries(actions.roles)) {
        for (const granularity of ['atomic', 'group'] as const) {
          if (placed[granularity] === 0) continue
          const key = `${granularity} ${role}`
          let row = counts.get(key)
          if (row === undefined) {
            row = { role, granularity, placed: new Array<number>(columns).fill(0) }
            counts.set(key, row)
          }
          row.placed[column]! += placed[granularity]
          totals[column]! += placed[granularity]
        }
      }
    }
  }
  const rows = [...counts.values()]
    .map(({ role, granularity, placed }) => ({
      role,
      granularity,
      shares: placed.map((count, column) => count / Math.max(1, totals[column]!)),
    }))
    .toSorted((a, b) => recent(b.shares) - recent(a.shares) || a.role.localeCompare(b.role))
  return {
    /** The first update of each column, counted from 1; `last` ends the last column. */
    starts: starts.map((start) => updates[start]!.update + 1),
    last: (updates.at(-1)?.update ?? -1) + 1,
    rows,
  }
}

function recent(shares: readonly number[]): number {
  const last = shares.slice(-Math.max(1, Math.round(shares.length / 5)))
  return last.reduce((sum, share) => sum + share, 0) / Math.max(1, last.length)
}
