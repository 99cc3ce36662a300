import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { type ComparedOrganisation, compareOrganisations } from '../evaluation/compare-organisations.ts'
import { type EvaluatedOrganisation, evaluate } from '../evaluation/evaluate.ts'
import { chainOrganisation, directOrganisation, type Organisation } from '../evaluation/organisation.ts'
import { loadPolicy } from '../evaluation/trained-policy.ts'
import { trainingPresets } from '../settings/training.ts'
import type { SyntheticFamily } from '../simulator/questions/synthetic-task-set.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import { train } from '../training/train.ts'
import type { TrainingEvent, TrainingResult, TrainOptions } from '../training/train-options.ts'

/** How many synthetic questions the demo learns from, and how many it is examined on. */
export const demoSizes = { train: 75, test: 500 } as const

/** Too few to learn from, enough to see that all of it runs. */
export const quickSizes = { train: 4, test: 20 } as const

/** Without programs, so that it shows the same on a machine that has no sandbox to run them in. */
export const demoFamilies: readonly SyntheticFamily[] = [
  'arithmetic',
  'choice',
  'table-claim',
  'table-arithmetic',
]

/** Only tools that run in this process, so that the numbers are the same whatever is installed. */
const sandbox = null

/** A free model on this machine takes all that comes; answers that come together are kept by one write to the disk. */
const concurrency = 128

export interface DemoOptions
  extends Required<Pick<TrainOptions, 'set' | 'model' | 'folder' | 'source' | 'signal'>> {
  readonly seed: number
  readonly onTraining: (event: TrainingEvent) => void
  readonly onQuestion: (organisation: string, done: number, total: number) => void
}

export interface DemoResult {
  readonly training: TrainingResult
  /** Absent where the training was interrupted. */
  readonly comparison?: DemoComparison
}

export interface DemoComparison {
  readonly reports: readonly EvaluatedOrganisation[]
  /** Against the untrained policy. */
  readonly rows: readonly ComparedOrganisation[]
  /** A held-out question as the trained policy answered it. */
  readonly example: Awaited<ReturnType<typeof exampleOf>>
}

/**
 * The whole job on the synthetic questions: trains a policy, then examines it on questions that it never saw, beside the
 * untrained policy, fixed organisations, and itself held to single agents or to groups.
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { seed, set, model, folder, source, signal } = options
  const engine = { set, model, sandbox, concurrency, signal }
  const training = await train({
    ...engine,
    folder,
    source,
    settings: { ...trainingPresets.demo, seed },
    // The texts of a hundred thousand simulated messages are of no use to anybody.
    execution: { traceContent: false },
    encoder: lexicalEncoder,
    onEvent: options.onTraining,
  })
  if (training.status !== 'finished') return { training }
  const trained = await loadPolicy(folder, { encoder: lexicalEncoder })
  const untrained = await loadPolicy(folder, { encoder: lexicalEncoder, update: 0 })
  const after = { seed, update: trained.update }
  const organisations: readonly (readonly [Organisation, Record<string, number>])[] = [
    [directOrganisation(), {}],
    [chainOrganisation(set.library, trained.run.training), {}],
    [untrained.organisation(), { seed, update: 0 }],
    [trained.organisation({ name: 'atomic-at-use', restriction: 'all-atomic' }), after],
    [trained.organisation({ name: 'group-at-use', restriction: 'all-group' }), after],
    [trained.organisation(), after],
  ]
  const reports: EvaluatedOrganisation[] = []
  for (const [organisation, about] of organisations) {
    const onRecord = (_: unknown, { done, total }: { done: number; total: number }) =>
      options.onQuestion(organisation.name, done, total)
    reports.push(await evaluate({ ...engine, folder, organisation, about, onRecord }))
    signal.throwIfAborted()
  }
  const rows = compareOrganisations(reports, { base: 2, seed })
  const example = await exampleOf(reports.at(-1)!, set, trained.organisation())
  return { training, comparison: { reports, rows, example } }
}

/** The first question with a right answer from more than one unit: one that shows an organisation at work. */
async function exampleOf(report: EvaluatedOrganisation, set: TaskSet, organisation: Organisation) {
  const shown =
    report.records.find(({ score, graph }) => score === 1 && graph.units.length > 1) ?? report.records[0]!
  const task = splitOf(set, 'test').tasks.find(({ id }) => id === shown.task)!
  return { task, graph: await organisation.graphFor(task), answer: shown.answer }
}
