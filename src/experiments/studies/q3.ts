import { loadPolicy } from '../../evaluation/trained-policy.ts'
import { costOf, priceOf } from '../../models/prices.ts'
import { Problem } from '../../problem.ts'
import { executionSettings } from '../../settings/execution.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import type { ConditionResult } from '../conditions.ts'
import { weightsDigest } from '../initial-weights.ts'
import type { Laboratory } from '../laboratory.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { evaluationSteps, type PlannedStep, policyLike, step, trainingSteps } from '../plan.ts'
import { quoted } from '../report/quoted.ts'
import { type Figure, figure, type ReportTable, textCell } from '../report/tables.ts'
import { type RouteResult, rlRoute } from '../search/rl-route.ts'
import { type SftResult, sftRoute } from '../search/sft-route.ts'
import { routeSnapshot } from '../search/snapshot.ts'
import { budgetUnit } from '../search/spent-amount.ts'
import { q3Settings as settings } from '../settings.ts'
import type { ExperimentDefinition, StudyOptions } from './definition.ts'
import { seedTables } from './seeds.ts'
import { differenceCell, evaluationTables, intervalText, pairedNote, unknownNotes } from './shared-tables.ts'

/** Both routes on one task set with one seed, evaluated at each stage. */
interface Compared {
  readonly unit: string
  readonly rl: RouteResult
  readonly sft: SftResult
  readonly stages: readonly number[]
  readonly results: readonly (ConditionResult & { readonly stage: number })[]
}

export const q3: ExperimentDefinition = {
  settings,
  takesSeeds: true,
  async plan(lab, { tasks, seeds, training }) {
    const steps: PlannedStep[] = []
    for (const name of tasks) {
      const opened = await lab.open(name, settings.study)
      const { set } = opened
      const given = { ...settings.training, ...training, passes: 1 }
      const { unit, price, routeBudget } = await budgetOf(lab, set)
      // Both routes spend their whole budget; the usage of one pass of updates shows how many calls that pays for.
      for (const pass of await trainingSteps(lab, opened, `${set.name}, RL`, given, 1)) {
        const took = unit.amount({ ...pass, cost: costOf(pass, price, new Date()) })
        const passes = (routeBudget * seeds.length) / Math.max(took, Number.MIN_VALUE)
        steps.push(step(lab, pass.label, pass, { updates: pass.updates }, passes))
        steps.push(step(lab, `${set.name}, Search-then-SFT: search`, pass, {}, passes))
      }
      const evaluations = (1 + 2 * settings.stages) * seeds.length
      steps.push(...(await evaluationSteps(lab, opened, set.name, policyLike(set, given), evaluations)))
    }
    return steps
  },
  async conduct(lab, options) {
    const compared: Compared[] = []
    for (const tasks of options.tasks)
      for (const seed of options.seeds) compared.push(await compare(lab, tasks, seed, options))
    const first = compared.filter(({ results }) => results[0]!.seed === options.seeds[0])
    const all = compared.flatMap(({ results }) => results)
    const last = compared.flatMap(({ results, stages }) =>
      results.filter(({ stage }) => stage === stages.at(-1)),
    )
    return {
      tables: [
        ...first.map(stageTable),
        ...seedTables(last, 'Search-then-SFT'),
        ...evaluationTables(all.filter(isOwnEvaluation).map(namedByStage)),
        quotedTable(),
      ],
      figures: first.map(stageFigure),
      decisions: [
        'Request reuse is off in both routes: only graph–question pairs are reused, as in the paper.',
        'A batch that crosses several stages reaches each of them. A route ends as stalled after a whole cycle of batches that cost nothing; stages not reached are reported, never filled in.',
        'The temperature falls from 1.2 to 1.0 over the first 100 updates, then stays.',
        `If the model has no price, the budget is ${settings.tokenBudget.toLocaleString('en')} tokens; stages are fifths of it.`,
      ],
    }
  },
}

/** The common start was evaluated once and is shown for both routes. */
function isOwnEvaluation({ stage, condition }: Compared['results'][number]): boolean {
  return stage > 0 || condition === 'RL'
}

function namedByStage(one: Compared['results'][number]): ConditionResult {
  return { ...one, condition: one.stage === 0 ? 'initial' : `${one.condition} at ${one.stage}` }
}

async function compare(
  lab: Laboratory,
  tasks: string,
  seed: number,
  { training }: StudyOptions,
): Promise<Compared> {
  const opened = await lab.open(tasks, settings.study)
  const { set } = opened
  const { encoder } = lab.options
  const { unit, routeBudget } = await budgetOf(lab, set)
  const stages = Array.from(
    { length: settings.stages },
    // Avoids floating-point noise: three fifths of 1.2 are 0.72, not 0.7200000000000001.
    (_, index) => Number((((index + 1) * routeBudget) / settings.stages).toPrecision(12)),
  )
  const given = { ...settings.training, passes: settings.passes, ...training, seed }
  const budget = { stages, unit, ledger: await routeSnapshot(lab) }
  const rl = await rlRoute(lab, `${set.name}-${seed}-rl`, opened, given, budget)
  const sft = await sftRoute(lab, `${set.name}-${seed}-search-then-sft`, opened, given, budget)
  lab.tell(`${set.name}, seed ${seed}: initial weights`, `SHA-256 ${commonStart(rl, sft)}`)

  const about = { set: set.name, title: set.title, metric: set.metric, seed }
  const results: Compared['results'][number][] = []
  const initial = (await loadPolicy(rl.folder, { encoder, update: 0 })).organisation({
    name: 'initial',
    seed,
  })
  const start = await lab.evaluate(rl.folder, opened, initial, { seed, stage: 0 })
  for (const condition of ['RL', 'Search-then-SFT'])
    results.push({ ...about, condition, stage: 0, report: start.report, runs: [lab.place(start.folder)] })
  for (const [condition, route] of [['RL', rl] as const, ['Search-then-SFT', sft] as const])
    for (const { stage, update } of route.stages.filter((one) => one.stage > 0)) {
      const policy = await loadPolicy(route.folder, { encoder, update })
      const organisation = policy.organisation({ name: condition, seed })
      const { report, folder } = await lab.evaluate(route.folder, opened, organisation, {
        seed,
        stage,
        update,
      })
      const runs = [route.folder.path, folder].map((path) => lab.place(path))
      results.push({ ...about, condition, stage, report, runs })
    }
  return { unit: unit.name, rl, sft, stages: [0, ...stages], results }
}

/** A route's budget and its unit. */
async function budgetOf({ options }: Laboratory, set: TaskSet) {
  const { prices } = executionSettings.parse(options.engine.execution ?? {})
  const price = priceOf((await options.model(set)).identity, prices)
  const { routeBudget = price === undefined ? settings.tokenBudget : settings.budget } = options
  return { price, unit: budgetUnit(price), routeBudget }
}

/** The digest of the weights both routes started from, according to their checkpoints. */
function commonStart(...routes: readonly RouteResult[]): string {
  const digests = routes.map(({ folder }) => weightsDigest(folder.readCheckpoint({}, 0)!.parameters))
  if (new Set(digests).size > 1)
    throw new Problem('The routes did not start from the same weights: their checkpoints of update 0 differ.')
  return digests[0]!
}

function stageTable({ unit, rl, sft, stages, results }: Compared): ReportTable {
  const { set, title, metric, seed } = results[0]!
  const of = (condition: string, stage: number) =>
    results.find((one) => one.condition === condition && one.stage === stage)
  const show = (value: number) => (unit === 'tokens' ? String(Math.round(value)) : value.toFixed(4))
  return {
    id: `q3-${set}`,
    title: `Q3 on ${title}: ${metric} by budget in ${unit}, seed ${seed}`,
    source: 'measured',
    columns: [
      'stage',
      ...['RL', 'Search-then-SFT'].flatMap((route) => [
        ...[route, `${route}: 95 %`, `${route}: batches`, `${route}: updates`, `${route}: spent`],
        ...[`${route}: overshoot`, `${route}: evaluation tokens`],
      ]),
      'RL − SFT [95 %]',
    ],
    rows: stages.map((stage) => {
      const route = (condition: string, result: RouteResult) => {
        const measured = of(condition, stage)
        if (measured === undefined) return Array.from({ length: 7 }, () => textCell('not reached'))
        const { report, runs } = measured
        const at = result.stages.find((one) => one.stage === stage)
        return [
          figure(report.score.mean * 100, twoDecimals, { runs }),
          textCell(intervalText(report)),
          figure(at?.batches ?? 0, String, { runs }),
          figure(at?.update ?? 0, String, { runs }),
          figure(at?.spent ?? 0, show, { runs }),
          figure(at?.overshoot ?? 0, show, { runs }),
          figure(report.usage.input + report.usage.output, tokensText, { runs }),
        ]
      }
      const [a, b] = [of('RL', stage), of('Search-then-SFT', stage)]
      return [
        textCell(show(stage)),
        ...route('RL', rl),
        ...route('Search-then-SFT', sft),
        differenceCell(a, b),
      ]
    }),
    notes: [
      pairedNote,
      ...unknownNotes(results),
      `RL: ${rl.batches} updates, ${show(rl.spent)} ${unit}, ${rl.end}. Search-then-SFT: ${sft.batches} search batches, ${sft.updates} supervised updates, ${show(sft.spent)} ${unit}, ${sft.end}.`,
      ...(sft.leftOut === 0 ? [] : [`${sft.leftOut} slots of the search had no candidate.`]),
    ],
  }
}

function stageFigure({ unit, rl, sft, results }: Compared): Figure {
  const { set, title, metric } = results[0]!
  const line = (name: string) => ({
    name,
    line: true,
    points: results
      .filter(({ condition }) => condition === name)
      .map(({ stage, report }) => ({ x: stage, y: report.score.mean * 100 })),
  })
  const spent = (route: RouteResult) => route.stages.map((one) => Number(one.spent.toPrecision(6))).join(', ')
  return {
    id: `q3-${set}`,
    title: `${title}: ${metric} over budget`,
    x: `nominal stage, ${unit}`,
    y: metric,
    series: [line('RL'), line('Search-then-SFT')],
    caption: `Actually spent at the stages: RL ${spent(rl)}; Search-then-SFT ${spent(sft)}.`,
  }
}

function quotedTable(): ReportTable {
  const { mmlu_pro, tatqa } = quoted.q3
  return {
    id: 'q3-quoted',
    title:
      'Q3 as reported in the paper, at CNY 10; scores of Search-then-SFT are derived from the differences',
    source: 'quoted',
    columns: [
      'data set',
      'RL',
      'Search-then-SFT',
      'RL ahead by',
      'stages ahead',
      'RL updates',
      'search batches',
      'SFT updates',
      'RL spent',
      'SFT spent',
    ],
    rows: Object.entries({ mmlu_pro, tatqa }).map(([set, { rl, search_then_sft: sft, ...rest }]) => [
      textCell(set),
      figure(rl.score_at_10, twoDecimals),
      figure(sft.score_at_10, twoDecimals),
      figure(rest.difference_at_10, twoDecimals),
      figure(rest.stages_ahead, String),
      figure(rl.updates, String),
      figure(sft.search_batches, String),
      figure(sft.sft_updates, String),
      figure(rl.spent, (value) => value.toFixed(4)),
      figure(sft.spent, (value) => value.toFixed(4)),
    ]),
  }
}
