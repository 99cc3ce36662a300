import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { duration, percent, tokens } from '../../../src/cli/display/numbers.ts'
import type { ShownAnswer, ShownQuestion } from '../../../src/view/questions.ts'
import { api } from '../api.ts'
import { href, setQuery, useQueryField } from '../location.ts'
import { Link } from '../parts/link.tsx'
import { PlainTable } from '../parts/plain-table.tsx'
import { Card, Loading, Problem } from '../parts/shown.tsx'
import { Text } from '../parts/text-box.tsx'
import { BuildingSteps } from './question-building.tsx'
import { QuestionExecution } from './question-execution.tsx'

/** One question: each organisation's answer, how its graph was built, and what its agents said. */
export function QuestionPage({ run }: { readonly run: string }): ReactNode {
  const [task] = useQueryField('task')
  const [by] = useQueryField('by')
  const [beside] = useQueryField('beside')
  const { data, error } = useQuery(api.question(run, task))
  if (error !== null) return <Problem text={error.message} />
  if (data === undefined) return <Loading />
  const chosen = data.answers.find(({ label }) => label === by) ?? usualAnswer(data.answers)
  const second = data.answers.find(({ label }) => label === beside && label !== chosen?.label)
  return (
    <>
      <div className="head">
        <div className="grow">
          <p className="note">
            <Link href={href(['runs', run], { tab: 'questions' })}>{run}</Link> / question
          </p>
          <h1>{task}</h1>
        </div>
        {data.kind !== undefined && <span className="tag">{data.kind}</span>}
        {data.split !== undefined && <span className="tag">{data.split}</span>}
      </div>
      <Asked question={data} />
      <Answers answers={data.answers} chosen={chosen?.label} beside={second?.label} metric={data.metric} />
      {chosen !== undefined && (
        <div className={second === undefined ? 'stack' : 'grid two'}>
          {[chosen, ...(second === undefined ? [] : [second])].map((answer) => (
            <section
              className="stack"
              // Drawn again when the width changes, so that graphs fit.
              key={`${answer.label} ${second?.label}`}
              aria-label={`Organisation ${answer.label}`}
            >
              <Verdict answer={answer} question={data} />
              <BuildingSteps run={run} task={task} answer={answer} />
              <QuestionExecution run={run} task={task} label={answer.label} />
            </section>
          ))}
        </div>
      )}
    </>
  )
}

function usualAnswer(answers: readonly ShownAnswer[]): ShownAnswer | undefined {
  return answers.find(({ label }) => label === 'trained') ?? answers.at(-1)
}

function Asked({ question }: { readonly question: ShownQuestion }): ReactNode {
  const { options = [], context = [], tables = [] } = question
  return (
    <Card title="Question">
      <div className="stack">
        {question.question === undefined ? (
          <p className="soft">{`The text of the question was not kept. ${question.problem ?? ''}`}</p>
        ) : (
          <Text of={question.question} isProse />
        )}
        {options.length > 0 && (
          <ul className="plain-list">
            {options.map(({ label, text }) => (
              <li key={label}>
                <b>{label}</b> <Text of={text} isInline />
              </li>
            ))}
          </ul>
        )}
        {tables.map(({ name, caption, header = [], rows }) => (
          <div className="scroll" key={name}>
            <table className="plain">
              <caption className="note">{caption ?? name}</caption>
              <thead>
                <tr>
                  {header.map((cell, column) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other name
                    <th key={column}>{cell}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.slice(0, 60).map((row, line) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
                  <tr key={line}>
                    {row.map((cell, column) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: as above
                      <td key={column}>{cell}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ))}
        {context.map((passage, position) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: passages have no other name
          <Text key={position} of={passage} />
        ))}
        <dl className="facts">
          <dt>Expected</dt>
          <dd>
            {question.expected === undefined ? 'unknown' : <Text of={question.expected.text} isInline />}
          </dd>
        </dl>
      </div>
    </Card>
  )
}

interface AnswersShown {
  readonly answers: readonly ShownAnswer[]
  readonly chosen: string | undefined
  readonly beside: string | undefined
  readonly metric: string
}

function Answers({ answers, chosen, beside, metric }: AnswersShown): ReactNode {
  return (
    <Card title="Answers" note="choose an organisation to inspect, and another to show beside it">
      <PlainTable
        rows={answers}
        idOf={({ label }) => label}
        columns={[
          [
            'Organisation',
            ({ label }) => (
              <label>
                <input
                  type="radio"
                  name="organisation"
                  checked={label === chosen}
                  onChange={() => setQuery({ by: label, beside: beside === label ? '' : (beside ?? '') })}
                />{' '}
                {label}
              </label>
            ),
          ],
          [
            'Answer',
            ({ answer }) => (answer === undefined ? '–' : <Text of={answer.text.slice(0, 80)} isInline />),
            'answer',
          ],
          [metric, ({ score }) => <span className={goodness(score)}>{percent(score)}</span>, 'number'],
          ['Units', ({ units }) => units.length, 'number'],
          ['Calls', ({ usage }) => usage.calls, 'number'],
          ['Tokens', ({ usage }) => tokens(usage.input + usage.output), 'number'],
          ['Time', ({ durationMs }) => duration(durationMs), 'number'],
          [
            'Beside',
            ({ label }) =>
              label !== chosen && (
                <input
                  type="checkbox"
                  aria-label={`Show ${label} beside it`}
                  checked={label === beside}
                  onChange={({ target }) =>
                    setQuery({ by: chosen ?? '', beside: target.checked ? label : '' })
                  }
                />
              ),
          ],
        ]}
      />
    </Card>
  )
}

/** The answer, and the reason for its score. */
function Verdict({
  answer,
  question,
}: {
  readonly answer: ShownAnswer
  readonly question: ShownQuestion
}): ReactNode {
  const given = answer.answer
  const rest = given === undefined ? 0 : given.length - given.text.length
  return (
    <Card title={answer.label} note={[reason(answer), triedText(answer)].filter(Boolean).join('; ')}>
      <dl className="facts">
        <dt>Given</dt>
        <dd>
          {given === undefined ? (
            `none: ${answer.status}`
          ) : (
            <Text of={given.text} isInline={given.length < 200} />
          )}
          {rest > 0 && (
            <p className="note">{`The first ${given!.text.length} of ${given!.length} characters.`}</p>
          )}
        </dd>
        <dt>Expected</dt>
        <dd>{question.expected === undefined ? 'unknown' : <Text of={question.expected.text} isInline />}</dd>
        <dt>{question.metric}</dt>
        <dd className={goodness(answer.score)}>{percent(answer.score)}</dd>
        {Object.entries(answer.measures ?? {}).map(([name, value]) => (
          <div className="contents" key={name}>
            <dt>{name}</dt>
            <dd>{percent(value)}</dd>
          </div>
        ))}
        {answer.failures.map(({ node, status, reason: why }) => (
          <div className="contents" key={node}>
            <dt>{node}</dt>
            <dd className="bad">{`${status}${why === undefined ? '' : `: ${why}`}`}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function goodness(score: number): string {
  return score === 1 ? 'good' : score === 0 ? 'bad' : ''
}

function triedText({ tried }: ShownAnswer): string {
  if (tried === undefined) return ''
  return tried === 1
    ? 'the only graph that training tried on it'
    : `the last of ${tried} graphs that training tried on it`
}

function reason({ answer, score, parse, program, status }: ShownAnswer): string {
  if (answer === undefined) return `no valid answer (${status}), which scores zero`
  if (parse === 'invalid') return 'not in the requested form, which scores zero'
  if (program !== undefined) return `a program: ${program.replaceAll('_', ' ')}`
  return score === 1
    ? 'the expected answer'
    : score === 0
      ? 'in the right form, but not the expected answer'
      : 'partly right'
}
