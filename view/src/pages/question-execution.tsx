import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { tokens } from '../../../src/cli/display/numbers.ts'
import type { ShownTrace } from '../../../src/view/shown-trace.ts'
import { api } from '../api.ts'
import { Card, Loading } from '../parts/shown.tsx'
import { Text } from '../parts/text-box.tsx'
import { agentName, laidOut, shortTime } from '../text.ts'

/** Loaded with the first question that is opened: it is most of the page's script. */
export const ExecutionGraph = lazy(() => import('../parts/execution-graph.tsx'))

type Node = ShownTrace['nodes'][number]

interface Chosen {
  readonly node: string
  /** Show the message from this node; without it, the chosen node's own texts. */
  readonly from?: string
}

/** How an organisation's graph was run on a question. */
export function QuestionExecution({
  run,
  task,
  label,
}: {
  readonly run: string
  readonly task: string
  readonly label: string
}): ReactNode {
  const { data, error } = useQuery(api.trace(run, task, label))
  if (error !== null)
    return (
      <Card title="Execution">
        <p className="soft">{error.message}</p>
      </Card>
    )
  return data === undefined ? <Loading /> : <ExecutionCard trace={data} />
}

/** The agents of a graph, their messages, times and tokens. */
export function ExecutionCard({ trace }: { readonly trace: ShownTrace }): ReactNode {
  const [chosen, setChosen] = useState<Chosen>()
  const node = trace.nodes.find((one) => one.node === chosen?.node)
  const said = `${trace.nodes.length} agent${trace.nodes.length === 1 ? '' : 's'}`
  return (
    <Card
      title="Execution"
      note={`${said}; choose one to read its request and reply, or an edge to read the message`}
    >
      <div className="stack">
        <Suspense fallback={<Loading />}>
          <ExecutionGraph
            nodes={trace.nodes}
            chosen={chosen?.node}
            onNode={(id) => setChosen({ node: id })}
            onEdge={(from, to) => setChosen({ node: to, from })}
          />
        </Suspense>
        <Waterfall trace={trace} chosen={chosen?.node} onNode={(id) => setChosen({ node: id })} />
        {node !== undefined && chosen !== undefined && (
          <div className="stack" aria-live="polite">
            {chosen.from === undefined ? (
              <NodeTexts node={node} />
            ) : (
              <MessageText from={trace.nodes.find((one) => one.node === chosen.from)!} to={node} />
            )}
          </div>
        )}
      </div>
    </Card>
  )
}

interface WaterfallShown {
  readonly trace: ShownTrace
  readonly chosen: string | undefined
  readonly onNode: (node: string) => void
}

/** When each agent worked, and how many tokens it used. */
function Waterfall({ trace, chosen, onNode }: WaterfallShown): ReactNode {
  const end = Math.max(1, ...trace.nodes.map(({ startMs, durationMs }) => startMs + durationMs))
  const place = ({ startMs, durationMs }: { readonly startMs: number; readonly durationMs: number }) => ({
    left: `${(startMs / end) * 100}%`,
    width: `${Math.max(0.4, (durationMs / end) * 100)}%`,
  })
  return (
    <ol className="waterfall" aria-label="Agents by time">
      {trace.nodes.map((node) => (
        <li key={node.node}>
          <button type="button" aria-pressed={node.node === chosen} onClick={() => onNode(node.node)}>
            {agentName(node)}
          </button>
          <span className="track" aria-hidden="true">
            {node.calls.map((call) => (
              <i
                key={call.startMs}
                className={call.failure === undefined ? 'call' : 'call failed'}
                style={place(call)}
              />
            ))}
            {node.tool !== undefined && (
              <i className="tool" style={place(node.tool)} title={node.tool.name} />
            )}
          </span>
          <span
            className="number note"
            title={`began after ${shortTime(node.startMs)}, took ${shortTime(node.durationMs)}`}
          >
            {shortTime(node.durationMs)}
          </span>
          <span className="number note">{`${tokens(node.tokens)} tokens`}</span>
        </li>
      ))}
    </ol>
  )
}

function NodeTexts({ node }: { readonly node: Node }): ReactNode {
  return (
    <>
      <div className="row">
        <h3>{agentName(node)}</h3>
        <span className="tag">{node.part === 'atomic' ? 'one agent' : node.part}</span>
        <span className={node.status === 'ok' ? 'note' : 'bad'}>
          {`${node.status.replaceAll('_', ' ')}${node.reason === undefined ? '' : `: ${node.reason}`}`}
        </span>
      </div>
      {node.calls.map((call, position) => (
        <div className="stack" key={call.startMs}>
          <p className="note">
            {`Call ${position + 1} of ${node.calls.length}, ${shortTime(call.durationMs)}, ${tokens(call.tokens)} tokens, ${call.attempts} attempt${call.attempts === 1 ? '' : 's'}${call.reused ? ', reused' : ''}`}
          </p>
          <Labelled name="Instructions" text={call.system} />
          <Labelled name="Request" text={call.user && laidOut(call.user)} />
          <Labelled name="Reply" text={call.reply && laidOut(call.reply)} otherwise={call.failure} />
        </div>
      ))}
      {node.tool !== undefined && (
        <div className="stack">
          <p className="note">{`Tool ${node.tool.name}, ${shortTime(node.tool.durationMs)}`}</p>
          <Labelled name="Asked for" text={node.tool.payload} />
          <Labelled name="Observed" text={node.tool.observation} />
        </div>
      )}
    </>
  )
}

function Labelled({
  name,
  text,
  otherwise = 'not kept',
}: {
  readonly name: string
  readonly text: string | undefined
  readonly otherwise?: string
}): ReactNode {
  return (
    <div>
      <p className="soft">{name}</p>
      {text === undefined ? <p className="note">{otherwise}</p> : <Text of={text} />}
    </div>
  )
}

function MessageText({ from, to }: { readonly from: Node; readonly to: Node }): ReactNode {
  return (
    <>
      <h3>{`What ${agentName(from)} told ${agentName(to)}`}</h3>
      <Labelled
        name="Message"
        text={messageFrom(from, to)}
        otherwise="This run keeps no texts of messages."
      />
    </>
  )
}

/** The message in the listener's request, found by the speaker's name; equal speakers have a counter after theirs. */
function messageFrom(from: Node, to: Node): string | undefined {
  try {
    const { predecessors } = JSON.parse(to.calls[0]?.user ?? '') as {
      predecessors?: readonly { id?: string }[]
    }
    const message =
      predecessors?.find(({ id }) => id === from.name) ??
      predecessors?.find(({ id }) => id?.startsWith(from.name))
    return message && JSON.stringify(message, null, 2)
  } catch {
    return undefined
  }
}
