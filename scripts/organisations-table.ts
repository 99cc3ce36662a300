// npm run docs:organisations -- [--seeds 5] [--questions 500] [--out folder] [--data folder] [--write]: every system on the
// simulated model, in this process, over two task sets and several seeds. What is done is kept in the folder: repeat the command
// to go on. With --write the table goes into docs/organisations.md.

import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { lexicalEncoder } from '../src/encoder/lexical-encoder.ts'
import type { OrganisationReport } from '../src/evaluation/organisation-report.ts'
import { searchedOrganisation, searchGraph } from '../src/evaluation/search-graph.ts'
import { pairedBootstrap } from '../src/evaluation/statistics.ts'
import { loadPolicy } from '../src/evaluation/trained-policy.ts'
import { Laboratory, type OpenedSet } from '../src/experiments/laboratory.ts'
import { matchBudget } from '../src/experiments/measures/matched-budget.ts'
import { seedMean } from '../src/experiments/measures/seed-summary.ts'
import { learnerSource } from '../src/organisations/learned/learner-source.ts'
import { organisations } from '../src/organisations/list.ts'
import { openOrganisation } from '../src/organisations/open-organisation.ts'
import type { OrganisationDefinition } from '../src/organisations/organisation.ts'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../src/simulator/model/simulator.ts'
import { machineSandbox } from '../src/store/run-tools.ts'
import { benchmarkTaskSet } from '../src/tasks/studies/benchmark-task-set.ts'
import type { TaskSet } from '../src/tasks/task-set.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    questions: { type: 'string', default: '500' },
    out: { type: 'string', default: 'experiments/organisations' },
    data: { type: 'string', default: '../shared/data' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const seeds = Array.from({ length: Number(values.seeds) }, (_, seed) => seed)
const questions = Number(values.questions)
const taskSets = ['mmlu_pro', 'gsm8k'] as const
const sandbox = await machineSandbox()
/** Of a small model: those that learn from what answers cost need one. */
const price = { currency: 'CNY', input: 1, cachedInput: 0.02, output: 2, asOf: '2026-04-24' }
const prices = { 'simulated/simulated': price }
const say = (line: string) => process.stderr.write(`${line}\n`)

interface Row {
  readonly name: string
  readonly category: string
  readonly fidelity: string
  /** By task set, then by seed. */
  readonly reports: readonly (readonly OrganisationReport[])[]
}

/** Self-consistency, from the cheapest on, for the rows of matched tokens. */
const answers = [1, 3, 5, 7, 9, 11, 15, 21, 31]

async function reportsOf(
  name: string,
  evaluateOn: (lab: Laboratory, opened: OpenedSet, seed: number) => Promise<OrganisationReport>,
): Promise<Row['reports']> {
  const all: OrganisationReport[][] = []
  for (const tasks of taskSets) {
    const set: TaskSet = await opened(tasks)
    const bySeed: OrganisationReport[] = []
    for (const seed of seeds) {
      const start = performance.now()
      const model = new SimulatedModel({ tasks: knownTasks(set), seed })
      const lab = new Laboratory({
        ...{ folder: join(resolve(values.out), `${tasks}-${seed}`), encoder: lexicalEncoder },
        open: async () => ({ set, source: {} }),
        model: async () => model,
        ...{ engine: { sandbox, execution: { prices } }, transportFailures: 'stop', budget: {} },
      })
      const report = await evaluateOn(lab, { set, source: {} }, seed)
      const took = ((performance.now() - start) / 1000).toFixed(1)
      say(`${tasks} ${seed} ${name}: ${(100 * report.score.mean).toFixed(1)} %, ${took} s`)
      bySeed.push(report)
    }
    all.push(bySeed)
  }
  return all
}

const sets = new Map<string, Promise<TaskSet>>()
function opened(tasks: (typeof taskSets)[number]): Promise<TaskSet> {
  const known =
    sets.get(tasks) ?? benchmarkTaskSet(tasks, { data: resolve(values.data), train: 100, test: questions })
  sets.set(tasks, known)
  return known
}

async function rowOf(definition: OrganisationDefinition, options: Record<string, number> = {}): Promise<Row> {
  const { category, fidelity } = definition
  const settings = Object.entries(options).map(([option, value]) => `:${option}=${value}`)
  const name = `${definition.name}${settings.join('')}`
  const reports = await reportsOf(name, async (lab, opened, seed) => {
    const { library, profile } = opened.set
    if (definition.learner !== undefined) {
      const organisation = learnerSource(definition)
      const run = await lab.train(definition.name, opened, { seed }, { organisation })
      const trained = (await loadPolicy(run, { encoder: lexicalEncoder })).organisation({ name })
      return (await lab.evaluate(run, opened, trained, { seed })).report
    }
    const means = { library, profile, seed, encoder: async () => lexicalEncoder }
    const { organisation, about } = await openOrganisation(definition, means, options)
    return (await lab.evaluate(lab.run('untrained'), opened, organisation, about)).report
  })
  return { name, category, fidelity, reports }
}

/** Our own: the policy by values, and the best fixed graph by search with as many evaluations. */
async function ownRows(): Promise<Row[]> {
  const train = (lab: Laboratory, opened: OpenedSet, seed: number) =>
    lab.train('magic', opened, { method: 'values', seed })
  const trained = await reportsOf('MAGIC', async (lab, opened, seed) => {
    const run = await train(lab, opened, seed)
    const organisation = (await loadPolicy(run, { encoder: lexicalEncoder })).organisation({ name: 'MAGIC' })
    return (await lab.evaluate(run, opened, organisation, { seed })).report
  })
  const searched = await reportsOf('searched', async (lab, opened, seed) => {
    const folder = await train(lab, opened, seed)
    const model = await lab.options.model(opened.set)
    const found = await searchGraph({
      execution: { prices },
      set: opened.set,
      model,
      sandbox,
      encoder: lexicalEncoder,
      folder,
      seed,
    })
    if (found.ended !== 'done') throw new Error('The search was interrupted.')
    const { organisation, about } = searchedOrganisation(found.search)
    return (await lab.evaluate(folder, opened, organisation, about)).report
  })
  return [
    { name: 'best fixed graph (search)', category: 'ours', fidelity: '', reports: searched },
    { name: 'MAGIC (by values)', category: 'ours', fidelity: '', reports: trained },
  ]
}

const wanted = values.only?.split(',')
const rows: Row[] = []
for (const definition of organisations)
  if (definition.name !== 'self-consistency' && (wanted === undefined || wanted.includes(definition.name)))
    rows.push(await rowOf(definition))
if (wanted === undefined || wanted.includes('magic')) rows.push(...(await ownRows()))

/** As many settings as the dearest organisation makes worth looking at. */
const selfConsistency = organisations.find(({ name }) => name === 'self-consistency')!
const most = Math.max(...rows.flatMap(({ reports }) => reports.flat().map(({ tokens }) => tokens.total)))
const settings: { readonly setting: number; readonly row: Row }[] = []
for (const setting of answers) {
  const row = await rowOf(selfConsistency, { answers: setting })
  settings.push({ setting, row })
  if (Math.min(...row.reports.map((own) => meanOf(own, ({ tokens }) => tokens.total))) > most) break
}

const directRow = rows.find(({ name }) => name === 'direct')
const table = tableOf([...rows.slice(0, 1), ...settings.slice(1, 3).map(({ row }) => row), ...rows.slice(1)])
if (values.write) {
  const path = new URL('../docs/organisations.md', import.meta.url)
  const [before, , after] = readFileSync(path, 'utf8').split(
    /(?<=<!-- table -->\n)|(?=<!-- end of table -->)/,
  )
  writeFileSync(path, `${before}${table}${after}`)
} else process.stdout.write(table)

function tableOf(all: readonly Row[]): string {
  const head = [
    ...['system', 'category', 'fidelity'],
    ...taskSets.flatMap((tasks) => [
      `${tasks} accuracy`,
      'to direct [95 %]',
      'tokens/q',
      'calls/q',
      'self-consistency within its tokens',
    ]),
  ]
  const lines = all.map(({ name, category, fidelity, reports }) => [
    ...[name, category, fidelity || '–'],
    ...reports.flatMap((own, set) => [
      scoreText(own),
      differenceText(own, directRow?.reports[set]),
      Math.round(meanOf(own, ({ tokens }) => tokens.total)).toLocaleString('en'),
      meanOf(own, ({ calls }) => calls).toFixed(1),
      matchedText(own, set),
    ]),
  ])
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const about = `Simulated: no language model was asked. ${questions} questions of each task set, seeds ${seeds.join(', ')}; made by \`npm run docs:organisations -- --write\`.\n\n`
  return `${about}${row(head)}${row(head.map((_, place) => (place < 3 ? '---' : '--:')))}${lines.map(row).join('')}`
}

function scoreText(own: readonly OrganisationReport[]): string {
  const { mean, deviation } = seedMean(own.map(({ score }) => 100 * score.mean))
  return deviation === null ? mean.toFixed(1) : `${mean.toFixed(1)} ± ${deviation.toFixed(1)}`
}

/** Paired by question: the mean over the seeds of each question's difference. */
function differenceText(
  own: readonly OrganisationReport[],
  base: readonly OrganisationReport[] | undefined,
): string {
  if (base === undefined || own === base) return '–'
  const scoresOf = (reports: readonly OrganisationReport[]) =>
    reports[0]!.records.map((_, place) => meanOf(reports, ({ records }) => records[place]!.score))
  const { difference, low, high } = pairedBootstrap(scoresOf(own), scoresOf(base), { seed: 0 })
  const points = (value: number) => `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)}`
  return `${points(difference)} [${points(low)}, ${points(high)}]`
}

function matchedText(own: readonly OrganisationReport[], set: number): string {
  const measured = settings.map(({ setting, row }) => ({
    setting,
    tokens: meanOf(row.reports[set]!, ({ tokens }) => tokens.total),
    score: meanOf(row.reports[set]!, ({ score }) => score.mean),
  }))
  const { within } = matchBudget(
    meanOf(own, ({ tokens }) => tokens.total),
    measured,
  )
  const chosen = measured.find(({ setting }) => setting === within)
  return chosen === undefined ? '–' : `${(100 * chosen.score).toFixed(1)} (k = ${chosen.setting})`
}

function meanOf<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0) / items.length
}
