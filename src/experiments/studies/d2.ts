import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { storedEvaluations } from '../../evaluation/evaluate.ts'
import { Problem } from '../../problem.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import { RunFolder } from '../../store/run-folder.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'
import { d2Settings as settings } from '../settings.ts'
import { d1Assignments } from '../tables/d1-table.ts'
import { coverageBound, verifiedCoverage } from '../tables/d2-coverage.ts'
import type { ExperimentDefinition } from './definition.ts'

export const d2: ExperimentDefinition = {
  settings,
  async conduct(_, { from }) {
    const reached = from === undefined ? undefined : reachedTable(from)
    return {
      ...(reached && { simulated: reached.isSimulated }),
      tables: [boundTable(), ...(reached === undefined ? [] : [reached.table])],
      figures: [],
      decisions: ['The paper only gives the formula; the values of m and B are ours.'],
    }
  },
}

function boundTable(): ReportTable {
  return {
    id: 'd2',
    title: 'D2: upper bound on the share of the 2^m assignments that B executions can verify',
    source: 'computed',
    columns: ['m', '2^m', ...settings.budgets.map((budget) => `B = ${budget.toLocaleString('en')}`)],
    rows: settings.roles.map((m) => [
      figure(m, String),
      textCell(coverageBound(m, 0).configurations.toLocaleString('en')),
      ...settings.budgets.map((budget) => figure(coverageBound(m, budget).coverageBound * 100, percentText)),
    ]),
  }
}

/** Two decimals, or four for small values. */
function percentText(value: number): string {
  return `${Number(value.toFixed(value >= 0.1 ? 2 : 4))} %`
}

/** The coverage reached by a D1 experiment, per question: three roles, one execution per assignment. */
function reachedTable(folder: string): { table: ReportTable; isSimulated: boolean } {
  const file = join(folder, 'experiment.json')
  if (!existsSync(file)) throw new Problem(`${folder} is not an experiment: it has no experiment.json.`)
  const { sets } = JSON.parse(readFileSync(file, 'utf8')) as {
    sets: readonly { name: string; seed: number }[]
  }
  const models = new Set<string>()
  const table: ReportTable = {
    id: 'd2-reached',
    title: 'D2: coverage reached by D1, minimum over all questions',
    source: 'measured',
    columns: ['task set', 'm', 'executions per question', 'bound', 'coverage'],
    rows: sets.map(({ name, seed }) => {
      const executed = new Map<string, string[]>()
      for (const assignment of d1Assignments) {
        const run = new RunFolder(join(folder, 'runs', `${name}-${seed}-${assignment.toLowerCase()}`))
        for (const { header, records } of storedEvaluations(run)) {
          models.add(header.model)
          for (const { task } of records) executed.set(task, [...(executed.get(task) ?? []), assignment])
        }
      }
      const counts = [...executed.values()]
      if (counts.length === 0) throw new Problem(`${folder} has no records of D1 on ${name} yet.`)
      const budget = Math.max(...counts.map((one) => one.length))
      const reached = Math.min(...counts.map((one) => verifiedCoverage(3, budget, one).coverage))
      const { coverageBound: bound } = coverageBound(3, budget)
      return [
        textCell(name),
        figure(3, String),
        figure(budget, String),
        figure(bound * 100, percentText),
        figure(reached * 100, percentText),
      ]
    }),
  }
  return { table, isSimulated: [...models].some(isSimulatedModel) }
}
