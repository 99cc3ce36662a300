import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../problem.ts'
import { readLines } from '../../store/durable-file.ts'
import { splitOf } from '../../tasks/task-set.ts'
import type { TrajectoryRecord } from '../../training/update-record.ts'
import { type ConditionResult, conduct } from '../conditions.ts'
import type { Laboratory } from '../laboratory.ts'
import { listedCondition, listedNotes } from '../listed-condition.ts'
import { marks, twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { type Cell, figure, type ReportTable, textCell } from '../report/tables.ts'
import { q1Settings as settings } from '../settings.ts'
import type { ExperimentDefinition, StudyOptions } from './definition.ts'
import { matchedBudgetTables } from './matched-budget.ts'
import { seedTables } from './seeds.ts'
import { evaluationTables, intervalText } from './shared-tables.ts'

export const q1: ExperimentDefinition = {
  settings,
  takesSeeds: true,
  comparison: ({ tasks, seeds, training, organisations = [] }) => ({
    tasks,
    seeds,
    study: settings.study,
    training: { ...settings.training, ...training },
    conditions: [
      listedCondition('direct'),
      { id: 'MAGIC', training: {} },
      ...organisations.map((name) => listedCondition(name)),
    ],
  }),
  async conduct(lab, options) {
    const comparison = this.comparison!(options)
    const results = await conduct(lab, comparison)
    const first = results.filter(({ seed }) => seed === options.seeds[0])
    return {
      tables: [
        measuredTable(first),
        await checkTable(lab, options),
        ...(options.matchedBudget ? await matchedBudgetTables(lab, comparison, options.tasks, first) : []),
        ...seedTables(results, 'direct'),
        ...evaluationTables(results, 'direct'),
        quotedTable(),
      ],
      figures: [],
      decisions: [
        'Measured rows ran on our executor (`--organisations` adds more); all other methods are only quoted, as in the paper.',
        'TAT-QA: the 1,663 questions of test_gold, since the 1,669 of the test file have no public answers.',
        'Training makes one pass over the questions, in the order of the membership.',
        ...listedNotes(options.organisations ?? []),
      ],
    }
  },
}

/** Methods by task set, with the best of each column marked. */
function measuredTable(results: readonly ConditionResult[]): ReportTable {
  const bySet = [...Map.groupBy(results, ({ set }) => set).values()]
  const methods = [...new Set(results.map(({ condition }) => condition))]
  const columns = bySet.map((own) => {
    const scores = methods.map((method) => own.find(({ condition }) => condition === method)!)
    const best = marks(
      scores.map(({ report }) => report.score.mean),
      true,
    )
    return scores.map(
      ({ report, runs }, row): Cell => ({
        ...figure(report.score.mean * 100, twoDecimals, { runs }),
        mark: best[row] === 'best' ? 'best' : undefined,
      }),
    )
  })
  return {
    id: 'q1',
    title: 'Q1: mean score × 100 over all selected questions',
    source: 'measured',
    columns: [
      'method',
      'fidelity',
      ...bySet.map(([one]) => `${one!.title} (${one!.metric}, n = ${one!.report.n})`),
    ],
    rows: methods.map((method, row) => [
      textCell(method),
      textCell(results.find(({ condition }) => condition === method)!.fidelity ?? '–'),
      ...columns.map((cells) => cells[row]!),
    ]),
    notes: bySet
      .flat()
      .map(
        ({ title, condition, report }) => `${title}, ${condition}: 95 % interval ${intervalText(report)}.`,
      ),
  }
}

/** Checks every training: a query among its own probes, or an id on both sides, would invalidate the figures. */
async function checkTable(lab: Laboratory, { tasks, seeds }: StudyOptions): Promise<ReportTable> {
  const opened = await Promise.all(tasks.map((name) => lab.open(name, settings.study)))
  const trainingIds = (name: string) => {
    const found = opened.find(({ set }) => set.name === name)
    return found && splitOf(found.set, 'train').tasks.map(({ id }) => id)
  }
  const rows = opened.flatMap(({ set }) =>
    seeds.map((seed) => {
      const run = lab.run(`${set.name}-${seed}-magic`)
      const groups = readLines(run.trajectoriesFile) as TrajectoryRecord[]
      const built = groups.flatMap(({ trajectories }) => trajectories)
      const held = new Set(splitOf(set, 'test').tasks.map(({ id }) => id))
      const both = splitOf(set, 'train').tasks.filter(({ id }) => held.has(id)).length
      const ownProbes = built.filter(({ query, probes }) => probes.includes(query)).length
      if (both > 0 || ownProbes > 0)
        throw new Problem(
          `${set.name}: ${both} questions are in both training and evaluation, and ${ownProbes} were among their own probes.`,
        )
      const runs = [lab.place(run.path)]
      return [
        textCell(set.title),
        ...[seed, groups.length, built.length, both, ownProbes].map((count) =>
          figure(count, String, { runs }),
        ),
      ]
    }),
  )
  const [own, others] = [trainingIds('humaneval'), trainingIds('livecodebench')]
  return {
    id: 'q1-checks',
    title: 'Q1: checks of every training',
    source: 'measured',
    columns: [
      'benchmark',
      'seed',
      'updates',
      'trajectories',
      'ids in both splits',
      'queries among their own probes',
    ],
    rows,
    notes:
      own === undefined || others === undefined
        ? []
        : [
            isDeepStrictEqual(own, others)
              ? "HumanEval's training questions are LiveCodeBench's."
              : "HumanEval's training questions are not LiveCodeBench's: see the deviations.",
          ],
  }
}

function quotedTable(): ReportTable {
  const { benchmarks, metrics, rows } = quoted.q1
  return {
    id: 'q1-quoted',
    title: 'Q1 as reported in the paper; all rows but the last are from OpenMAS-GCom',
    source: 'quoted',
    columns: ['method', 'category', ...benchmarks.map((name, index) => `${name} (${metrics[index]})`)],
    rows: rows.map(({ method, category, values }) => [
      textCell(method),
      textCell(category),
      ...values.map((value) => figure(value, twoDecimals)),
    ]),
    notes: [
      'Read with care: MAGIC leads the best baseline of its column by one question on StrategyQA, AQuA, HumanEval and TabFact, by 14 on GSM8K, 17 on LCB-v6 and 48 on MMLU-Pro.',
    ],
  }
}
