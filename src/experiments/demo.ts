import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import {
  chainOrganisation,
  directOrganisation,
  shuffledOrganisation,
} from '../evaluation/baseline-organisations.ts'
import { type ComparedOrganisation, compareOrganisations } from '../evaluation/compare-organisations.ts'
import { type EvaluatedOrganisation, evaluate } from '../evaluation/evaluate.ts'
import { untrainedOrganisation } from '../evaluation/named-organisation.ts'
import { type GraphSearch, searchedOrganisation, searchGraph } from '../evaluation/search-graph.ts'
import { loadPolicy } from '../evaluation/trained-policy.ts'
import { type Worth, worthOf } from '../evaluation/worth.ts'
import type { NamedOrganisation } from '../organisations/open-organisation.ts'
import type { Organiser } from '../organisations/organisation.ts'
import { trainingPresets } from '../settings/training.ts'
import type { SyntheticFamily } from '../simulator/questions/synthetic-task-set.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import { train } from '../training/train.ts'
import type { TrainingEvent, TrainingResult, TrainOptions } from '../training/train-options.ts'

/** Number of synthetic questions for training and for testing. */
export const demoSizes = { train: 200, test: 500 } as const

/** Too few to learn from, but enough to see that everything runs. */
export const quickSizes = { train: 4, test: 20 } as const

/** A small network: with so few questions, the usual one would take most of the time. */
export const quickTraining = { hidden: 32 } as const

/** Without programs, so that results are the same on machines without a sandbox. */
export const demoFamilies: readonly SyntheticFamily[] = [
  'arithmetic',
  'choice',
  'table-claim',
  'table-arithmetic',
]

/** Only tools that run in this process, so that the numbers do not depend on what is installed. */
const sandbox = null

/** High, because the local model takes any load, and answers that arrive together are stored with one disk write. */
const concurrency = 128

export interface DemoOptions
  extends Required<Pick<TrainOptions, 'set' | 'model' | 'folder' | 'source' | 'signal'>> {
  readonly seed: number
  /** Overrides of the usual settings. */
  readonly training?: TrainOptions['settings']
  readonly onTraining: (event: TrainingEvent) => void
  /** Progress of the search for a fixed graph, in evaluations. */
  readonly onSearch: (done: number, total: number) => void
  readonly onQuestion: (organisation: string, done: number, total: number) => void
}

export interface DemoResult {
  readonly training: TrainingResult
  /** Absent if the training was interrupted. */
  readonly comparison?: DemoComparison
}

export interface DemoComparison {
  readonly reports: readonly EvaluatedOrganisation[]
  /** Compared with the untrained policy. */
  readonly rows: readonly ComparedOrganisation[]
  /** The trained policy compared with the searched graph. */
  readonly worth: Worth
  /** A held-out question as the trained policy answered it. */
  readonly example: Awaited<ReturnType<typeof exampleOf>>
}

/**
 * The whole workflow on the synthetic questions: trains a policy, then evaluates it on unseen questions, together
 * with the untrained policy, fixed organisations, the best fixed graph found by a search of the same size, and the
 * trained policy with its graphs shuffled between questions.
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { seed, set, model, folder, source, signal } = options
  const engine = { set, model, sandbox, concurrency, signal }
  // The texts of a hundred thousand simulated messages are of no use.
  const execution = { traceContent: false }
  const training = await train({
    ...engine,
    folder,
    source,
    settings: { ...trainingPresets.values, ...options.training, seed },
    execution,
    encoder: lexicalEncoder,
    onEvent: options.onTraining,
  })
  if (training.status !== 'finished') return { training }
  const trained = await loadPolicy(folder, { encoder: lexicalEncoder })
  const untrained = await loadPolicy(folder, { encoder: lexicalEncoder, update: 0 })
  let evaluations = 0
  const found = await searchGraph({
    ...engine,
    execution,
    folder: trained.folder,
    encoder: lexicalEncoder,
    seed,
    onStart: (total) => {
      evaluations = total
    },
    onProgress: (done) => options.onSearch(done, evaluations),
  })
  if (found.ended !== 'done') throw signal.reason
  const { search } = found
  const searched = searchedOrganisation(search)
  const { tasks } = splitOf(set, 'test')
  const after = { seed, update: trained.update }
  type Examined = NamedOrganisation & { readonly search?: GraphSearch }
  const examined: readonly Examined[] = [
    { organisation: directOrganisation(), about: {} },
    { organisation: chainOrganisation(set.library, trained.run.training), about: {} },
    { organisation: untrainedOrganisation(untrained, seed), about: { seed, update: 0 } },
    { ...searched, search },
    {
      organisation: { ...shuffledOrganisation(trained.organisation(), tasks, seed), name: 'shuffled' },
      about: after,
    },
    { organisation: trained.organisation(), about: after },
  ]
  const reports: EvaluatedOrganisation[] = []
  for (const one of examined) {
    const onRecord = (_: unknown, { done, total }: { done: number; total: number }) =>
      options.onQuestion(one.organisation.name, done, total)
    reports.push(await evaluate({ ...engine, ...one, folder, onRecord }))
    signal.throwIfAborted()
  }
  const rows = compareOrganisations(reports, { base: 2, seed })
  const worth = worthOf(reports.at(-1)!, reports[3]!)
  const example = await exampleOf(reports.at(-1)!, set, trained.organisation())
  return { training, comparison: { reports, rows, worth, example } }
}

/** The first question answered correctly by more than one unit, to show an organisation at work. */
async function exampleOf(report: EvaluatedOrganisation, set: TaskSet, organisation: Organiser) {
  const shown =
    report.records.find(({ score, graph }) => score === 1 && graph.units.length > 1) ?? report.records[0]!
  const task = splitOf(set, 'test').tasks.find(({ id }) => id === shown.task)!
  return { task, graph: await organisation.graphFor(task), answer: shown.answer }
}
