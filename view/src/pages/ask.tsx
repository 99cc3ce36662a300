import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { duration, tokens } from '../../../src/cli/display/numbers.ts'
import type { AskEvent } from '../../../src/view/ask.ts'
import { api } from '../api.ts'
import { askPolicy } from '../ask.ts'
import { useQueryField } from '../location.ts'
import { Card, costShown, Empty, Loading, Problem, Simulated } from '../parts/shown.tsx'
import { Text } from '../parts/text-box.tsx'
import { Steps } from './question-building.tsx'
import { ExecutionCard, ExecutionGraph } from './question-execution.tsx'

type Of<Type extends AskEvent['type']> = Extract<AskEvent, { readonly type: Type }>

/** Ask a question, watch the policy build a graph and the agents work, read the answer. */
export function AskPage(): ReactNode {
  const { data: runs, error } = useQuery(api.runs())
  const { data: about } = useQuery(api.about())
  const [given, setRun] = useQueryField('run')
  const [question, setQuestion] = useState('')
  const [events, setEvents] = useState<readonly AskEvent[]>([])
  const [isBusy, setBusy] = useState(false)
  const leaving = useRef<AbortController>(null)
  useEffect(() => () => leaving.current?.abort(), [])
  if (error !== null) return <Problem text={error.message} />
  if (runs === undefined || about === undefined) return <Loading />
  const usable = runs.flatMap((run) => (run.status !== 'damaged' && run.done > 0 ? [run.name] : []))
  const run = usable.includes(given) ? given : usable[0]
  if (!about.allowAsk || run === undefined)
    return (
      <Empty title={about.allowAsk ? 'No policy to ask yet' : 'Asking is off'}>
        <p className="soft">
          {about.allowAsk
            ? 'You can ask a run after its first update.'
            : 'Answers can cost money, so asking must be allowed when the dashboard starts:'}
        </p>
        {!about.allowAsk && <pre>magic view --allow-ask</pre>}
      </Empty>
    )
  const ask = async (event: FormEvent) => {
    event.preventDefault()
    leaving.current?.abort()
    const controller = new AbortController()
    leaving.current = controller
    setEvents([])
    setBusy(true)
    const add = (added: AskEvent) => setEvents((known) => [...known, added])
    await askPolicy({ run, question }, add, controller.signal).catch((problem: Error) => {
      if (!controller.signal.aborted) add({ type: 'problem', text: problem.message })
    })
    if (leaving.current === controller) setBusy(false)
  }
  return (
    <>
      <div>
        <h1>Ask</h1>
        <p className="soft">
          The policy builds an organisation for your question, and the organisation answers it.
        </p>
      </div>
      <form className="card stack" onSubmit={ask}>
        <textarea
          rows={4}
          aria-label="Your question"
          placeholder="A shop sells 3 pens for 2 euros. What do 12 pens cost, in euros?"
          value={question}
          onChange={({ target }) => setQuestion(target.value)}
        />
        <div className="row">
          <label>
            Run{' '}
            <select value={run} onChange={({ target }) => setRun(target.value)}>
              {usable.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <button type="submit" className="button main" disabled={isBusy || question.trim() === ''}>
            {isBusy ? 'Working…' : 'Ask'}
          </button>
          {isBusy && (
            <button
              type="button"
              className="button"
              onClick={() => {
                leaving.current?.abort()
                setBusy(false)
              }}
            >
              Stop
            </button>
          )}
        </div>
      </form>
      <Happening events={events} />
    </>
  )
}

function Happening({ events }: { readonly events: readonly AskEvent[] }): ReactNode {
  const last = <Type extends AskEvent['type']>(type: Type) =>
    events.findLast((event): event is Of<Type> => event.type === type)
  const built = last('construction')
  const answer = last('answer')
  const problem = last('problem')
  return (
    <div className="stack">
      {events.flatMap((event, position) =>
        event.type === 'note'
          ? [
              // biome-ignore lint/suspicious/noArrayIndexKey: events are only ever added
              <p className="note" key={position}>
                {event.text}
              </p>,
            ]
          : [],
      )}
      {problem !== undefined && <Problem text={problem.text} />}
      {answer !== undefined && <Answer of={answer} />}
      {built !== undefined && <Steps construction={built} />}
      {answer === undefined ? <AtWork events={events} /> : <ExecutionCard trace={answer.trace} />}
    </div>
  )
}

function Answer({ of }: { readonly of: Of<'answer'> }): ReactNode {
  const text = typeof of.answer === 'string' ? of.answer : JSON.stringify(of.answer, null, 2)
  const used = `${of.usage.calls} calls, ${tokens(of.usage.input + of.usage.output)} tokens, ${costShown(of.cost, of.simulated)}, ${duration(of.durationMs)}`
  return (
    <Card title="Answer" note={used}>
      <div className="stack" role="status">
        {of.status === 'answered' ? (
          <Text of={text} />
        ) : (
          <p className="bad">{`No valid answer: ${of.status}.`}</p>
        )}
        <p className="row">
          <Simulated when={of.simulated} />
          {of.guess && (
            <span className="note">
              The simulated model does not know this question: its answer is a guess.
            </span>
          )}
        </p>
      </div>
    </Card>
  )
}

/** The agents while they work, each waiting, working or done. */
function AtWork({ events }: { readonly events: readonly AskEvent[] }): ReactNode {
  const told = events.flatMap((event) => (event.type === 'execution' ? [event.event] : []))
  const start = told.find((event) => event.type === 'execution-start')
  if (start?.type !== 'execution-start') return null
  const states = new Map<string, string>()
  for (const event of told) {
    if (event.type === 'node-start') states.set(event.node, 'working')
    if (event.type === 'node-end') states.set(event.node, event.status)
  }
  const done = [...states.values()].filter((state) => state !== 'working').length
  const nodes = start.nodes.map((node) => ({ ...node, status: states.get(node.node) ?? 'waiting' }))
  return (
    <Card title="At work" note={`${done} of ${nodes.length} agents done`}>
      <Suspense fallback={<Loading />}>
        <ExecutionGraph nodes={nodes} chosen={undefined} onNode={() => {}} onEdge={() => {}} />
      </Suspense>
    </Card>
  )
}
