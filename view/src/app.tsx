import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { api } from './api.ts'
import { useLiveRuns } from './live.ts'
import { usePlace } from './location.ts'
import { AskPage } from './pages/ask.tsx'
import { ComparePage } from './pages/compare.tsx'
import { QuestionPage } from './pages/question.tsx'
import { RunPage } from './pages/run.tsx'
import { RunsPage } from './pages/runs.tsx'
import { WorkersPage } from './pages/workers.tsx'
import { Link } from './parts/link.tsx'
import { Empty } from './parts/shown.tsx'
import { setTheme, type Theme, useTheme } from './theme.ts'

export function App(): ReactNode {
  const { path } = usePlace()
  const live = useLiveRuns()
  const { data: about } = useQuery(api.about())
  const main = useRef<HTMLElement>(null)
  const [section = 'runs', ...rest] = path
  const title = [section === 'runs' ? rest : section, 'MAGIC'].flat().reverse().join(' · ')
  const page = path.join('/')

  // Screen readers announce a new page and read it from its start, as after a reload.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page is what this waits for
  useEffect(() => {
    window.scrollTo(0, 0)
    if (document.activeElement !== document.body) main.current?.focus({ preventScroll: true })
  }, [page])
  useEffect(() => {
    document.title = title
  }, [title])

  const entry = (name: string, href: string, label: string) => (
    <Link href={href} aria-current={section === name ? 'page' : undefined}>
      {label}
    </Link>
  )
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Link className="brand" href="/" aria-label="MAGIC: all runs">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M9 9.5 22 16M9 22.5 22 16" />
            <circle cx="7.5" cy="8.5" r="3.6" />
            <circle cx="7.5" cy="23.5" r="3.6" />
            <circle className="full" cx="24" cy="16" r="4.6" />
          </svg>
          MAGIC
        </Link>
        <nav aria-label="Pages">
          {entry('runs', '/', 'Runs')}
          {entry('compare', '/compare', 'Compare')}
          {about?.hasWorkers === true && entry('workers', '/workers', 'Workers')}
          {about?.allowAsk === true && entry('ask', '/ask', 'Ask')}
        </nav>
        <span className="live" role="status">
          <i className={`dot ${live}`} />
          {live === 'lost' ? 'connection lost' : live}
        </span>
        <ThemeChoice />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Page section={section} rest={rest} />
      </main>
    </>
  )
}

function Page({ section, rest }: { readonly section: string; readonly rest: readonly string[] }): ReactNode {
  const [run, part] = rest
  if (section === 'runs' && run === undefined) return <RunsPage />
  if (section === 'runs' && part === undefined) return <RunPage key={run} name={run!} />
  if (section === 'runs' && part === 'question') return <QuestionPage run={run!} />
  if (section === 'compare') return <ComparePage />
  if (section === 'workers') return <WorkersPage />
  if (section === 'ask') return <AskPage />
  return (
    <Empty title="There is no such page">
      <Link href="/">All runs</Link>
    </Empty>
  )
}

const themes: Readonly<Record<Theme, string>> = { system: 'Auto', light: 'Light', dark: 'Dark' }

function ThemeChoice(): ReactNode {
  const { chosen } = useTheme()
  return (
    <span className="choice note" role="group" aria-label="Colours">
      {Object.entries(themes).map(([theme, label]) => (
        <button
          key={theme}
          type="button"
          aria-pressed={chosen === theme}
          onClick={() => setTheme(theme as Theme)}
        >
          {label}
        </button>
      ))}
    </span>
  )
}
