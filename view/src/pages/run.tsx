import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { duration, percent, tokens } from '../../../src/cli/display/numbers.ts'
import type { RunDetail } from '../../../src/view/run-detail.ts'
import { api, type SoundRow } from '../api.ts'
import { href, useQueryField } from '../location.ts'
import { Link } from '../parts/link.tsx'
import { costShown, Loading, Problem, Progress, Simulated, Status, Tile } from '../parts/shown.tsx'
import { RunEvaluations } from './run-evaluations.tsx'
import { RunGraphs } from './run-graphs.tsx'
import { RunLearning } from './run-learning.tsx'
import { RunQuestions } from './run-questions.tsx'
import { RunSettings } from './run-settings.tsx'

const tabs: Readonly<Record<string, string>> = {
  '': 'Learning',
  graphs: 'Graphs',
  evaluations: 'Evaluations',
  questions: 'Questions',
  settings: 'Settings and files',
}

export function RunPage({ name }: { readonly name: string }): ReactNode {
  const { data: run, error } = useQuery(api.run(name))
  const [tab] = useQueryField('tab')
  if (error !== null)
    return (
      <>
        <h1>{name}</h1>
        <Problem text={error.message} />
      </>
    )
  if (run === undefined) return <Loading />
  return (
    <>
      <Heading run={run} />
      <nav className="choice" aria-label="Parts of the run">
        {Object.entries(tabs).map(([part, label]) => (
          <Link
            key={part}
            href={href(['runs', name], part === '' ? {} : { tab: part })}
            aria-current={tab === part ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {tab === 'graphs' ? (
        <RunGraphs name={name} run={run} />
      ) : tab === 'evaluations' ? (
        <RunEvaluations name={name} run={run} />
      ) : tab === 'questions' ? (
        <RunQuestions name={name} />
      ) : tab === 'settings' ? (
        <RunSettings name={name} run={run} />
      ) : (
        <RunLearning name={name} run={run} />
      )}
    </>
  )
}

function Heading({ run }: { readonly run: RunDetail }): ReactNode {
  const row = run.row as SoundRow
  const { made, reused } = run.tokens
  const { about } = run
  return (
    <>
      <div className="head">
        <div className="grow">
          <h1>{row.name}</h1>
          <p className="soft">
            {about.tasks.title},{' '}
            {Object.entries(about.tasks.splits)
              .map(([split, { tasks }]) => `${tasks} ${split}`)
              .join(' and ')}{' '}
            questions, {row.simulated ? 'with the simulated model' : `with ${row.model}`}
          </p>
        </div>
        <span className="row">
          <Simulated when={row.simulated} />
          <Status of={row.status} />
          <Progress done={row.done} of={row.updates} />
          <span className="note" data-testid="updates">
            {row.done} of {row.updates} updates
          </span>
        </span>
      </div>
      <dl className="tiles">
        <Tile
          name={`held-out ${about.tasks.metric}`}
          value={row.score === undefined ? '–' : percent(row.score.mean)}
          note={
            row.score === undefined
              ? 'not evaluated yet'
              : `${percent(row.score.low)} to ${percent(row.score.high)}, ${row.score.n} questions`
          }
        />
        <Tile
          name="score in training"
          value={row.trainingScore === undefined ? '–' : percent(row.trainingScore.mean)}
          note={row.trainingScore && `mean of the last ${row.trainingScore.n} updates`}
        />
        <Tile
          name="tokens"
          value={tokens(row.tokens)}
          note={`in ${tokens(row.calls)} calls${run.retries > 0 ? ` and ${tokens(run.retries)} retries` : ''}`}
        />
        <Tile
          name="reused"
          value={percent(made + reused === 0 ? 0 : reused / (made + reused))}
          note={`${tokens(reused)} tokens not paid for again`}
        />
        <Tile name="cost" value={costShown(row.cost, row.simulated)} />
        <Tile name="time" value={duration(row.minutes * 60_000)} />
      </dl>
    </>
  )
}
