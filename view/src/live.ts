import { useEffect, useState } from 'react'
import type { RunRow } from '../../src/view/run-row.ts'
import { api, queryClient } from './api.ts'

/** How often the page of a run that is training is brought up to date at most. */
const pauseMs = 1000

/** Listens to the server: rows of changed runs come by themselves, and open pages of those runs are fetched again. */
export function useLiveRuns(): 'connecting' | 'live' | 'lost' {
  const [state, setState] = useState<'connecting' | 'live' | 'lost'>('connecting')
  useEffect(() => {
    const waiting = new Map<string, ReturnType<typeof setTimeout>>()
    const source = new EventSource('/api/live')
    let isFirst = true
    source.onopen = () => setState('live')
    source.onerror = () => setState('lost')
    source.addEventListener('runs', ({ data }) => {
      const { changed, names } = JSON.parse(data as string) as { changed: RunRow[]; names: string[] }
      queryClient.setQueryData(api.runs().queryKey, (known: RunRow[] | undefined) => {
        const rows = new Map([...(known ?? []), ...changed].map((row) => [row.name, row]))
        return names.flatMap((name) => rows.get(name) ?? [])
      })
      // The first message tells of every run; pages have just been fetched.
      if (!isFirst) for (const { name } of changed) bringUpToDate(name, waiting)
      isFirst = false
    })
    return () => {
      source.close()
      for (const timer of waiting.values()) clearTimeout(timer)
    }
  }, [])
  return state
}

function bringUpToDate(run: string, waiting: Map<string, ReturnType<typeof setTimeout>>): void {
  if (waiting.has(run)) return
  const timer = setTimeout(() => {
    waiting.delete(run)
    // What was rebuilt or recorded for a question does not change any more.
    const isOfRun = ({ queryKey: [kind, name, part] }: { queryKey: readonly unknown[] }) =>
      kind === 'compare' || (kind === 'run' && name === run && part !== 'construction' && part !== 'trace')
    void queryClient.invalidateQueries({ predicate: isOfRun })
  }, pauseMs)
  waiting.set(run, timer)
}
