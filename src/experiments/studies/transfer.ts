import { compareOrganisations } from '../../evaluation/compare-organisations.ts'
import { loadPolicy } from '../../evaluation/trained-policy.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import type { ConditionResult } from '../conditions.ts'
import type { Laboratory } from '../laboratory.ts'
import { twoDecimals } from '../measures/displayed.ts'
import { evaluationSteps, type PlannedStep, policyLike, trainingSteps } from '../plan.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'
import { transferSettings as settings } from '../settings.ts'
import type { ExperimentDefinition, StudyOptions } from './definition.ts'
import { differenceCell, evaluationTables, intervalText, pairedNote, unknownNotes } from './shared-tables.ts'

/** Beyond the paper: a policy trained on one task set, used on another. */
export const transfer: ExperimentDefinition = {
  settings,
  async plan(lab, { tasks, training }) {
    const given = { ...settings.training, ...training }
    const steps: PlannedStep[] = []
    for (const name of tasks) {
      const opened = await lab.open(name, settings.study)
      steps.push(...(await trainingSteps(lab, opened, opened.set.name, given, 1)))
      // The policies of all sets, plus the untrained one.
      const graphs = policyLike(opened.set, given)
      steps.push(...(await evaluationSteps(lab, opened, opened.set.name, graphs, tasks.length + 1)))
    }
    return steps
  },
  async conduct(lab, options) {
    const results: ConditionResult[] = []
    const lacking: string[] = []
    for (const name of options.tasks) results.push(...(await useOn(lab, name, options, lacking)))
    return {
      tables: [matrix(results, lacking), ...evaluationTables(results, 'untrained')],
      figures: [],
      decisions: [
        'Library and encoder are those of the set that the policy was trained on.',
        'The share that transfers is (trained on A − untrained) / (trained on B − untrained); N/A if the 95 % interval of the gap contains 0.',
      ],
    }
  },
}

/** Evaluates the policies of all sets, and the untrained one, on one task set. */
async function useOn(
  lab: Laboratory,
  name: string,
  { tasks, seeds, training }: StudyOptions,
  lacking: string[],
): Promise<ConditionResult[]> {
  const target = await lab.open(name, settings.study)
  const seed = seeds[0]!
  const { encoder } = lab.options
  const about = { set: target.set.name, title: target.set.title, metric: target.set.metric, seed }
  const results: ConditionResult[] = []
  for (const from of tasks) {
    const source = await lab.open(from, settings.study)
    const given = { ...settings.training, ...training, seed }
    const folder = await lab.train(`${source.set.name}-${seed}-trained`, source, given)
    const set = underLibraryOf(source.set, target.set)
    lacking.push(...missingRoles(source.set, target.set))
    const uses = from === name ? [undefined, 0] : [undefined]
    for (const update of uses) {
      const policy = await loadPolicy(folder, { encoder, update })
      const condition = update === 0 ? 'untrained' : `trained on ${source.set.name}`
      const organisation = policy.organisation({ name: condition, seed })
      const records = lab.run(`${target.set.name}-${seed}-under-${source.set.name}`)
      const evaluated = await lab.evaluate(records, { ...target, set }, organisation, { seed })
      const runs = [folder.path, evaluated.folder].map((path) => lab.place(path))
      results.push({ ...about, condition, report: evaluated.report, runs })
    }
  }
  return results
}

/** The questions of one set with the roles and tools of another. */
function underLibraryOf({ library, profile }: TaskSet, target: TaskSet): TaskSet {
  return { ...target, library, profile, contractOf: (task) => target.contractOf(task) }
}

function missingRoles(source: TaskSet, target: TaskSet): string[] {
  const roles = target.profile.roles.filter((role) => !source.profile.roles.includes(role))
  const tools = target.profile.tools.filter((tool) => !source.profile.tools.includes(tool))
  const lacks = [...roles, ...tools]
  return lacks.length === 0
    ? []
    : [`${source.name} lacks these parts of ${target.name}'s profile: ${lacks.join(', ')}.`]
}

function matrix(results: readonly ConditionResult[], lacking: readonly string[]): ReportTable {
  const bySet = [...Map.groupBy(results, ({ set }) => set)]
  return {
    id: 'transfer',
    title: 'Transfer: score and tokens per question on each task set',
    source: 'measured',
    columns: [
      ...['on', 'policy', 'score', 'n', '95 % interval', 'difference from untrained [95 %]'],
      ...['tokens per question', 'share of the gap that transfers'],
    ],
    rows: bySet.flatMap(([set, own]) => {
      const untrained = own.find(({ condition }) => condition === 'untrained')!
      const at = own.find(({ condition }) => condition === `trained on ${set}`)!
      const gap = compareOrganisations([at.report, untrained.report], { base: 1 })[0]!.against!
      const isGap = gap.low > 0 || gap.high < 0
      return own.map((one) => {
        const gained = one.report.score.mean - untrained.report.score.mean
        const share = isGap && one !== untrained ? gained / gap.difference : null
        const { runs } = one
        return [
          textCell(set),
          textCell(one.condition),
          figure(one.report.score.mean * 100, twoDecimals, { runs }),
          figure(one.report.n, String),
          textCell(intervalText(one.report)),
          differenceCell(one, untrained),
          figure(one.report.tokens.total, (value) => String(Math.round(value)), { runs }),
          figure(share, twoDecimals, { runs: [...runs, ...untrained.runs, ...at.runs] }),
        ]
      })
    }),
    notes: [pairedNote, ...unknownNotes(results), ...new Set(lacking)],
  }
}
