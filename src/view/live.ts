import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { runRow } from './run-row.ts'
import type { RunShelf } from './run-shelf.ts'

const lookMs = 500
/** Regular messages, because a closed browser would otherwise go unnoticed. */
const beatMs = 15_000

/** Streams which runs have changed. */
export function liveRuns(context: Context, shelf: RunShelf, closing: AbortSignal): Response {
  return streamSSE(context, async (stream) => {
    const told = new Map<string, string>()
    let beat = Date.now()
    while (!stream.aborted && !closing.aborted) {
      const rows = shelf.list().map(runRow)
      const isFirst = told.size === 0
      const names = rows.map(({ name }) => name)
      const changed = rows.filter((row) => told.get(row.name) !== JSON.stringify(row))
      const gone = [...told.keys()].filter((name) => !names.includes(name))
      for (const row of changed) told.set(row.name, JSON.stringify(row))
      for (const name of gone) told.delete(name)
      if (isFirst || changed.length + gone.length > 0 || Date.now() - beat > beatMs) {
        await stream.writeSSE({ event: 'runs', data: JSON.stringify({ changed, names }) })
        beat = Date.now()
      }
      await stream.sleep(lookMs)
    }
  })
}
