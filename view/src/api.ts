import { QueryClient, queryOptions } from '@tanstack/react-query'
import type { Comparison } from '../../src/view/comparison.ts'
import type { KindRow, QuestionList, ShownQuestion } from '../../src/view/questions.ts'
import type { RebuiltConstruction } from '../../src/view/rebuilt-construction.ts'
import type { RunCurves, RunDetail } from '../../src/view/run-detail.ts'
import type { RunRow } from '../../src/view/run-row.ts'
import type { ShownTrace } from '../../src/view/shown-trace.ts'
import type { WorkOverview } from '../../src/workers/overview.ts'

/** The row of a readable run. */
export type SoundRow = Exclude<RunRow, { readonly status: 'damaged' }>

/** Data is fetched again only when the server reports a change: see live.ts. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false },
  },
})

export async function fetchJson<Content>(
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Content> {
  const text = new URLSearchParams(query).toString()
  const response = await fetch(`${path}${text === '' ? '' : `?${text}`}`)
  const content = (await response.json().catch(() => ({}))) as Content & { readonly error?: string }
  if (response.ok) return content
  throw new Error(content.error ?? `The server answered ${response.status}.`)
}

function runPath(run: string, ...parts: readonly string[]): string {
  return ['/api/runs', encodeURIComponent(run), ...parts].join('/')
}

export interface About {
  readonly version: string
  readonly runs: string
  readonly allowAsk: boolean
  readonly hasWorkers: boolean
}

export const api = {
  about: () => queryOptions({ queryKey: ['about'], queryFn: () => fetchJson<About>('/api/about') }),
  runs: () => queryOptions({ queryKey: ['runs'], queryFn: () => fetchJson<RunRow[]>('/api/runs') }),
  run: (run: string) =>
    queryOptions({ queryKey: ['run', run], queryFn: () => fetchJson<RunDetail>(runPath(run)) }),
  /** Fetches only what is new, unless the training was started over. */
  curves: (run: string) =>
    queryOptions({
      queryKey: ['run', run, 'curves'],
      queryFn: async ({ client, queryKey }) => {
        const known = client.getQueryData<RunCurves>(queryKey)
        const after = known?.update.length ?? 0
        const added = await fetchJson<RunCurves>(runPath(run, 'curves'), { after: String(after) })
        const continues =
          known === undefined || added.update[0] === undefined || added.update[0] > known.update.at(-1)!
        if (known === undefined) return added
        if (!continues) return await fetchJson<RunCurves>(runPath(run, 'curves'))
        return appended(known, added)
      },
      structuralSharing: false,
    }),
  kinds: (run: string) =>
    queryOptions({
      queryKey: ['run', run, 'kinds'],
      queryFn: () => fetchJson<KindRow[]>(runPath(run, 'kinds')),
    }),
  questions: (run: string) =>
    queryOptions({
      queryKey: ['run', run, 'questions'],
      queryFn: () => fetchJson<QuestionList>(runPath(run, 'questions')),
      structuralSharing: false,
    }),
  question: (run: string, task: string) =>
    queryOptions({
      queryKey: ['run', run, 'question', task],
      queryFn: () => fetchJson<ShownQuestion>(runPath(run, 'question'), { task }),
    }),
  construction: (run: string, task: string, organisation: string) =>
    queryOptions({
      queryKey: ['run', run, 'construction', task, organisation],
      queryFn: () => fetchJson<RebuiltConstruction>(runPath(run, 'construction'), { task, organisation }),
    }),
  trace: (run: string, task: string, organisation: string) =>
    queryOptions({
      queryKey: ['run', run, 'trace', task, organisation],
      queryFn: () => fetchJson<ShownTrace>(runPath(run, 'trace'), { task, organisation }),
    }),
  /** The queue sends no events, so it is polled while its page is open. */
  workers: () =>
    queryOptions({
      queryKey: ['workers'],
      queryFn: () => fetchJson<WorkOverview>('/api/workers'),
      refetchInterval: 2000,
    }),
  compare: (runs: string, split: string, base: string) =>
    queryOptions({
      queryKey: ['compare', runs, split, base],
      queryFn: () => fetchJson<Comparison>('/api/compare', { runs, split, ...(base === '' ? {} : { base }) }),
    }),
}

function appended(known: RunCurves, added: RunCurves): RunCurves {
  const columns = Object.entries(added).filter(([name]) => name !== 'after') as [keyof RunCurves, number[]][]
  const joined = columns.map(([name, values]) => [name, [...(known[name] as number[]), ...values]])
  return { ...Object.fromEntries(joined), after: 0 } as RunCurves
}
