import { useEffect, useState } from 'react'
import type { RunRow } from '../../src/view/run-row.ts'
import { api, queryClient } from './api.ts'

/** The shortest time between two updates of a page. */
const pauseMs = 1000

/** Listens for changed runs: updates their rows, and fetches open pages about them again. */
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
      // The first message lists every run, and their pages have just been fetched.
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
    // Replayed decisions and recorded traces never change.
    const isOfRun = ({ queryKey: [kind, name, part] }: { queryKey: readonly unknown[] }) =>
      kind === 'compare' || (kind === 'run' && name === run && part !== 'construction' && part !== 'trace')
    void queryClient.invalidateQueries({ predicate: isOfRun })
  }, pauseMs)
  waiting.set(run, timer)
}
