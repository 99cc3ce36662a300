import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { percent, tokens } from '../../../src/cli/display/numbers.ts'
import type { GraphsOfStage } from '../../../src/view/built-graphs.ts'
import { graphPlot } from '../../../src/view/plots/graph-plot.ts'
import type { RunDetail } from '../../../src/view/run-detail.ts'
import { api } from '../api.ts'
import { PlainTable } from '../parts/plain-table.tsx'
import { Card, Empty } from '../parts/shown.tsx'
import { SvgView } from '../parts/svg-view.tsx'

/** The graphs that the policy builds, before training and after, and by kind of question. */
export function RunGraphs({ name, run }: { readonly name: string; readonly run: RunDetail }): ReactNode {
  const { data: kinds = [] } = useQuery(api.kinds(name))
  const { stages, source } = run.graphs
  if (source === 'none')
    return (
      <Empty title="No graphs yet">
        <p className="soft">They come with the first update.</p>
      </Empty>
    )
  return (
    <>
      <p className="note">
        {source === 'evaluation'
          ? 'The same held-out questions, answered by the policy before its first update and by the policy now.'
          : 'Sampled graphs, on training questions. Evaluate the trained and the untrained policy to compare them on the same questions.'}{' '}
        A double frame is a group: three workers and an aggregator.
      </p>
      <div className="grid">
        {stages.map((stage) => (
          <Stage key={stage.title} stage={stage} />
        ))}
      </div>
      {kinds.length > 0 && (
        <Card title="By kind of question" note="on the questions that both answered; before → after training">
          <PlainTable
            rows={kinds}
            idOf={({ kind }) => kind}
            columns={[
              ['Kind', ({ kind }) => kind],
              ['Questions', ({ questions }) => questions, 'number'],
              [
                'Score',
                ({ before, after }) => `${percent(before.score)} → ${percent(after.score)}`,
                'number',
              ],
              [
                'Tokens per question',
                ({ before, after }) => `${tokens(before.tokens)} → ${tokens(after.tokens)}`,
                'number',
              ],
              [
                'Units',
                ({ before, after }) => `${before.units.toFixed(1)} → ${after.units.toFixed(1)}`,
                'number',
              ],
              [
                'Most common graph after training',
                ({ questions, after: { common } }) => (
                  <>
                    <SvgView of={graphPlot(common.units)} />
                    <span className="note">{`${common.count} of ${questions}`}</span>
                  </>
                ),
              ],
            ]}
          />
        </Card>
      )}
    </>
  )
}

function Stage({ stage }: { readonly stage: GraphsOfStage }): ReactNode {
  const used = stage.tokens === undefined ? '' : `, ${tokens(stage.tokens)} tokens per question`
  return (
    <Card
      title={stage.title}
      note={`${stage.different} different graph${stage.different === 1 ? '' : 's'}, score ${percent(stage.score)}${used}`}
    >
      <ul className="built">
        {stage.graphs.map(({ key, units, count, score, tokens: each }) => (
          <li key={key}>
            <div className="scroll">
              <SvgView of={graphPlot(units)} />
            </div>
            <span className="note">
              {`${count} of ${stage.total} (${percent(count / stage.total)}), score ${percent(score)}${each === undefined ? '' : `, ${tokens(each)} tokens`}`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
