import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { percent } from '../../../src/cli/display/numbers.ts'
import type { ExplainedStep } from '../../../src/policy/explained-steps.ts'
import { graphPlot } from '../../../src/view/plots/graph-plot.ts'
import type { ShownAnswer } from '../../../src/view/questions.ts'
import type { RebuiltConstruction } from '../../../src/view/rebuilt-construction.ts'
import { api } from '../api.ts'
import { Card, Loading } from '../parts/shown.tsx'
import { SvgView } from '../parts/svg-view.tsx'

/** How the policy built the graph: every decision with the probabilities of all choices. */
export function BuildingSteps({
  run,
  task,
  answer,
}: {
  readonly run: string
  readonly task: string
  readonly answer: ShownAnswer
}): ReactNode {
  const { data, error } = useQuery(api.construction(run, task, answer.label))
  const graph = (
    <div className="scroll">
      <SvgView of={graphPlot(answer.units)} />
    </div>
  )
  if (error !== null)
    return (
      <Card title="Its graph" note={error.message}>
        {graph}
      </Card>
    )
  if (data === undefined) return <Loading />
  if (!data.isSame)
    return (
      <Card
        title="Its graph"
        note="Replaying the decisions gave another graph, so they are not shown: the question, or this machine's arithmetic, has changed."
      >
        {graph}
      </Card>
    )
  return <Steps construction={data} />
}

interface Shown extends Pick<RebuiltConstruction, 'units' | 'update'> {
  readonly steps: readonly ExplainedStep[]
  readonly temperature?: number
}

/** A construction, one decision at a time. */
export function Steps({ construction }: { readonly construction: Shown }): ReactNode {
  const { steps, units, update, temperature } = construction
  const [chosen, setChosen] = useState(0)
  const position = Math.min(chosen, steps.length - 1)
  const step = steps[position]!
  const by = update === 0 ? 'the untrained policy' : `the policy after ${update} updates`
  const how =
    temperature === undefined
      ? ''
      : temperature === 0
        ? ', which always takes the most probable choice'
        : `, sampling at temperature ${temperature}`
  return (
    <Card title="How the graph was built" note={`by ${by}${how}`}>
      <div className="stack">
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={position === 0}
            onClick={() => setChosen(position - 1)}
          >
            Back
          </button>
          <button
            type="button"
            className="button"
            disabled={position === steps.length - 1}
            onClick={() => setChosen(position + 1)}
          >
            Next
          </button>
          <span role="status">{`Decision ${position + 1} of ${steps.length}: ${decision(step)}`}</span>
        </div>
        <div className="scroll">
          <SvgView of={graphPlot(step.action.type === 'stop' ? units : units.slice(0, position + 1))} />
        </div>
        <div className="grid">
          <Choices title="What next" choices={nextChoices(step)} />
          {step.realizations !== undefined && step.action.type === 'add' && (
            <Choices
              title={`${step.action.role} as`}
              choices={Object.entries(step.realizations).map(([name, probability]) => ({
                name: name === 'atomic' ? 'one agent' : 'a group',
                probability,
                isTaken: step.action.type === 'add' && name === step.action.realization,
              }))}
            />
          )}
          {(step.edges ?? []).length > 0 && step.action.type === 'add' && (
            <Choices
              title="Listening to"
              choices={step.edges!.map((probability, unit) => ({
                name: `${unit + 1} ${units[unit]!.role}`,
                probability,
                isTaken: step.action.type === 'add' && step.action.predecessors.includes(unit),
              }))}
            />
          )}
        </div>
      </div>
    </Card>
  )
}

function decision({ action, forced, probability }: ExplainedStep): string {
  if (action.type === 'stop') return forced ? 'STOP, as the graph is full' : `STOP (${percent(probability)})`
  return `${action.role} as ${action.realization === 'group' ? 'a group' : 'one agent'} (${percent(probability)} overall)`
}

interface Choice {
  readonly name: string
  /** Null if the choice is not legal. */
  readonly probability: number | null
  readonly isTaken: boolean
}

const shownChoices = 12
/** Less than this would show as 0.0 %. */
const leastShown = 0.0005

/** The most probable first. */
function nextChoices({ action, roles, stop }: ExplainedStep): Choice[] {
  const added = Object.entries(roles).map(([name, probability]) => {
    return { name, probability, isTaken: action.type === 'add' && action.role === name }
  })
  const all = [...added, { name: 'STOP', probability: stop, isTaken: action.type === 'stop' }].toSorted(
    (a, b) => b.probability - a.probability,
  )
  return all.filter(
    ({ probability, isTaken }, place) => isTaken || (probability >= leastShown && place < shownChoices),
  )
}

function Choices({
  title,
  choices,
}: {
  readonly title: string
  readonly choices: readonly Choice[]
}): ReactNode {
  return (
    <div>
      <h3>{title}</h3>
      <ul className="choices">
        {choices.map(({ name, probability, isTaken }) => (
          <li key={name} className={isTaken ? 'taken' : ''}>
            <span>
              {name}
              {isTaken && <span className="visually-hidden"> (taken)</span>}
            </span>
            <i style={{ width: `${(probability ?? 0) * 100}%` }} />
            <span className="number">{probability === null ? 'not legal' : percent(probability)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
