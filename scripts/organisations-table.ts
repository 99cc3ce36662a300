// npm run docs:organisations -- [--seeds 5] [--questions 250] [--out folder] [--data folder] [--only names] [--done] [--write]:
// every system on the simulated model, in this process, over two task sets and several seeds, seed by seed. What is done is kept
// in the folder: repeat the command to go on. With --done nothing is run, and the table has what is there; with --write it goes
// into docs/organisations.md.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
    questions: { type: 'string', default: '250' },
    out: { type: 'string', default: 'experiments/organisations' },
    data: { type: 'string', default: '../shared/data' },
    only: { type: 'string' },
    done: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const seeds = Array.from({ length: Number(values.seeds) }, (_, seed) => seed)
const questions = Number(values.questions)
const taskSets = ['mmlu_pro', 'gsm8k'] as const
type TaskSetName = (typeof taskSets)[number]
const sandbox = await machineSandbox()
/** Of a small model: those that learn from what answers cost need one. */
const price = { currency: 'CNY', input: 1, cachedInput: 0.02, output: 2, asOf: '2026-04-24' }
const prices = { 'simulated/simulated': price }
const say = (line: string) => process.stderr.write(`${line}\n`)

/** What the table needs of a report. */
interface Cell {
  readonly tokens: number
  readonly calls: number
  /** By question. */
  readonly scores: readonly number[]
}

type Evaluate = (lab: Laboratory, opened: OpenedSet, seed: number) => Promise<OrganisationReport>

interface System {
  readonly name: string
  readonly category: string
  readonly fidelity: string
  readonly evaluate: Evaluate
}

interface Row extends System {
  /** By task set: the seeds that are done. */
  readonly cells: readonly ReadonlyMap<number, Cell>[]
}

/** Self-consistency, from the cheapest on, for the rows of matched tokens. */
const answers = [1, 3, 5, 7, 9, 11, 15, 21, 31]

/** One system on one task set with one seed; none where it is not done and nothing may be run. */
async function cellOf(
  { name, evaluate }: System,
  tasks: TaskSetName,
  seed: number,
): Promise<Cell | undefined> {
  const folder = join(resolve(values.out), `${tasks}-${seed}`)
  const file = join(folder, 'cells', `${name.replace(/\W+/g, '-')}.json`)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Cell
  if (values.done) return
  const start = performance.now()
  const set = await opened(tasks)
  const model = new SimulatedModel({ tasks: knownTasks(set), seed })
  const lab = new Laboratory({
    ...{ folder, encoder: lexicalEncoder },
    open: async () => ({ set, source: {} }),
    model: async () => model,
    ...{ engine: { sandbox, execution: { prices } }, transportFailures: 'stop', budget: {} },
  })
  const report = await evaluate(lab, { set, source: {} }, seed)
  if (!report.complete) throw new Error(`${name} was left before its end.`)
  const took = ((performance.now() - start) / 1000).toFixed(1)
  say(`${tasks} ${seed} ${name}: ${(100 * report.score.mean).toFixed(1)} %, ${took} s`)
  const { tokens, calls, records } = report
  const cell = { tokens: tokens.total, calls, scores: records.map(({ score }) => score) }
  mkdirSync(join(folder, 'cells'), { recursive: true })
  writeFileSync(file, JSON.stringify(cell))
  return cell
}

/** Seed by seed, so that what is done early is comparable. */
async function rowsOf(systems: readonly System[]): Promise<Row[]> {
  const rows = systems.map((system) => ({ ...system, cells: taskSets.map(() => new Map<number, Cell>()) }))
  for (const seed of seeds)
    for (const row of rows)
      for (const [place, tasks] of taskSets.entries()) {
        const cell = await cellOf(row, tasks, seed)
        if (cell !== undefined) row.cells[place]!.set(seed, cell)
      }
  return rows
}

const sets = new Map<string, Promise<TaskSet>>()
function opened(tasks: TaskSetName): Promise<TaskSet> {
  const known =
    sets.get(tasks) ?? benchmarkTaskSet(tasks, { data: resolve(values.data), train: 100, test: questions })
  sets.set(tasks, known)
  return known
}

function systemOf(definition: OrganisationDefinition, options: Record<string, number> = {}): System {
  const { category, fidelity } = definition
  const settings = Object.entries(options).map(([option, value]) => `:${option}=${value}`)
  const name = `${definition.name}${settings.join('')}`
  const evaluate: Evaluate = async (lab, opened, seed) => {
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
  }
  return { name, category, fidelity, evaluate }
}

/** Our own: the best fixed graph that a search finds, and the policy by values; both have as many evaluations. */
const ours = { category: 'ours', fidelity: '–' }
const trainOurs = (lab: Laboratory, opened: OpenedSet, seed: number) =>
  lab.train('magic', opened, { method: 'values', seed })
const searched: System = {
  ...ours,
  name: 'searched',
  async evaluate(lab, opened, seed) {
    const folder = await trainOurs(lab, opened, seed)
    const model = await lab.options.model(opened.set)
    const found = await searchGraph({
      ...{ execution: { prices }, set: opened.set, model, sandbox, encoder: lexicalEncoder, folder, seed },
    })
    if (found.ended !== 'done') throw new Error('The search was interrupted.')
    const { organisation, about } = searchedOrganisation(found.search)
    return (await lab.evaluate(folder, opened, organisation, about)).report
  },
}
const magic: System = {
  ...ours,
  name: 'MAGIC (by values)',
  async evaluate(lab, opened, seed) {
    const run = await trainOurs(lab, opened, seed)
    const organisation = (await loadPolicy(run, { encoder: lexicalEncoder })).organisation({ name: 'MAGIC' })
    return (await lab.evaluate(run, opened, organisation, { seed })).report
  },
}

const wanted = values.only?.split(',')
const selfConsistency = organisations.find(({ name }) => name === 'self-consistency')!
const systems = [
  ...organisations.filter((one) => one !== selfConsistency).map((one) => systemOf(one)),
  ...[searched, magic],
].filter(({ name }) => wanted === undefined || wanted.includes(name.split(' ')[0]!))
const rows = await rowsOf(systems)
const meanTokens = (cells: ReadonlyMap<number, Cell>) => meanOf([...cells.values()], ({ tokens }) => tokens)

/** As many settings as the dearest system makes worth looking at. */
const most = Math.max(...rows.flatMap(({ cells }) => cells.filter(({ size }) => size > 0).map(meanTokens)))
const settings: { readonly setting: number; readonly row: Row }[] = []
if (wanted === undefined || wanted.includes('self-consistency'))
  for (const setting of answers) {
    const [row] = await rowsOf([systemOf(selfConsistency, { answers: setting })])
    if (row!.cells.some(({ size }) => size < seeds.length)) break
    settings.push({ setting, row: row! })
    if (Math.min(...row!.cells.map(meanTokens)) > most) break
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
      ...[`${tasks} accuracy`, 'seeds', 'to direct [95 %]', 'tokens/q', 'calls/q'],
      'self-consistency within its tokens',
    ]),
  ]
  const lines = all
    .filter(({ cells }) => cells.some(({ size }) => size > 0))
    .map(({ name, category, fidelity, cells }) => [
      ...[name, category, fidelity],
      ...cells.flatMap((own, set) => {
        if (own.size === 0) return ['–', '0', '–', '–', '–', '–']
        const each = [...own.values()]
        return [
          scoreText(each),
          String(own.size),
          differenceText(own, directRow?.cells[set]),
          Math.round(meanTokens(own)).toLocaleString('en'),
          meanOf(each, ({ calls }) => calls).toFixed(1),
          matchedText(own, set),
        ]
      }),
    ])
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const isWhole = (one: Row) => one.cells.every(({ size }) => size === seeds.length)
  const short = all.filter((one) => !isWhole(one)).map(({ name }) => `\`${name}\``)
  const missing =
    short.length === 0
      ? ''
      : ` Not done with all seeds, or not at all: ${short.join(', ')}; \`npm run docs:organisations -- --write\` goes on with them.`
  const about = `Simulated: no language model was asked. ${questions} questions of each task set, ${questions * taskSets.length} in all; seeds ${seeds.join(', ')}, as far as the columns of seeds say. Made by \`npm run docs:organisations -- ${values.done ? '--done ' : ''}--write\`${values.done ? ' of what `npm run docs:organisations` had done' : ''}.${missing}\n\n`
  return `${about}${row(head)}${row(head.map((_, place) => (place < 3 ? '---' : '--:')))}${lines.map(row).join('')}`
}

function scoreText(own: readonly Cell[]): string {
  const { mean, deviation } = seedMean(own.map(({ scores }) => 100 * meanOf(scores, (score) => score)))
  return deviation === null ? mean.toFixed(1) : `${mean.toFixed(1)} ± ${deviation.toFixed(1)}`
}

/** Paired by question, over the seeds that both have: the mean over them of each question's difference. */
function differenceText(own: ReadonlyMap<number, Cell>, base: ReadonlyMap<number, Cell> | undefined): string {
  const shared = [...own.keys()].filter((seed) => base?.has(seed))
  if (base === undefined || own === base || shared.length === 0) return '–'
  const scoresOf = (cells: ReadonlyMap<number, Cell>) =>
    cells.get(shared[0]!)!.scores.map((_, place) => meanOf(shared, (seed) => cells.get(seed)!.scores[place]!))
  const { difference, low, high } = pairedBootstrap(scoresOf(own), scoresOf(base), { seed: 0 })
  const points = (value: number) => `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)}`
  return `${points(difference)} [${points(low)}, ${points(high)}]`
}

function matchedText(own: ReadonlyMap<number, Cell>, set: number): string {
  const measured = settings.map(({ setting, row: { cells } }) => ({
    setting,
    tokens: meanTokens(cells[set]!),
    score: meanOf([...cells[set]!.values()], ({ scores }) => meanOf(scores, (score) => score)),
  }))
  const { within, above } = matchBudget(meanTokens(own), measured)
  // Unless a dearer one was measured too, a larger k might fit.
  const isSure = above !== null || settings.length === answers.length
  const chosen = isSure ? measured.find(({ setting }) => setting === within) : undefined
  return chosen === undefined ? '–' : `${(100 * chosen.score).toFixed(1)} (k = ${chosen.setting})`
}

function meanOf<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0) / items.length
}
