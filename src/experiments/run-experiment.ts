import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { inputFingerprint } from '../encoder/query-embedding.ts'
import type { JsonObject } from '../library/json-value.ts'
import { priceOf } from '../models/prices.ts'
import { arithmetic } from '../numerics/kernels/kernels.ts'
import { Problem } from '../problem.ts'
import { executionSettings } from '../settings/execution.ts'
import { trainingSettings } from '../settings/training.ts'
import { isSimulatedModel } from '../simulator/model/simulated-name.ts'
import { changesBetween } from '../store/differing-settings.ts'
import { digestOf, writeWhole } from '../store/durable-file.ts'
import type { Study } from '../tasks/studies/study.ts'
import { membership, splitVersion } from '../tasks/task-set.ts'
import { version } from '../version.ts'
import type { Laboratory, OpenedSet } from './laboratory.ts'
import { modelDeviation } from './paper-model.ts'
import type { ExperimentResult } from './report/tables.ts'
import { writeReport } from './report/write-report.ts'
import { notInPaper } from './settings.ts'
import { d1 } from './studies/d1.ts'
import { d2 } from './studies/d2.ts'
import { d3 } from './studies/d3.ts'
import type { ExperimentDefinition, StudyOptions } from './studies/definition.ts'
import { q1 } from './studies/q1.ts'
import { q2 } from './studies/q2.ts'
import { q3 } from './studies/q3.ts'
import { q4 } from './studies/q4.ts'
import { sweep } from './studies/sweep.ts'
import { transfer } from './studies/transfer.ts'

export const experiments = { q1, q2, q3, q4, d1, d2, d3, sweep, transfer } as const

export type ExperimentName = keyof typeof experiments

/** Completes an experiment and writes its report. */
export async function runExperiment(
  name: ExperimentName,
  lab: Laboratory,
  options: StudyOptions,
): Promise<{ result: ExperimentResult; files: readonly string[] }> {
  const definition: ExperimentDefinition = experiments[name]
  mkdirSync(lab.options.folder, { recursive: true })
  const { study } = definition.settings
  const about =
    study === undefined || options.from !== undefined
      ? undefined
      : await describe(name, definition, study, lab, options)
  const outcome = await definition.conduct(lab, options)
  const result: ExperimentResult = {
    format: 'magic-experiment-1',
    experiment: name.toUpperCase(),
    title: definition.settings.title,
    simulated: about?.isSimulated ?? false,
    deviations: about?.deviations ?? [],
    ...outcome,
    facts: [
      ...(about?.facts ?? [['software', `magic-agents ${version}, Node.js ${process.version}`] as const]),
      ...lab.facts,
    ],
  }
  return { result, files: writeReport(lab.options.folder, result) }
}

/** Writes `experiment.json` and the memberships, or checks that they match those the experiment was begun with. */
async function describe(
  name: ExperimentName,
  definition: ExperimentDefinition,
  study: Study,
  lab: Laboratory,
  options: StudyOptions,
) {
  const { settings } = definition
  const { encoder, engine, transportFailures, folder, routeBudget, ledger } = lab.options
  const opened: OpenedSet[] = []
  for (const tasks of options.tasks) opened.push(await lab.open(tasks, study))
  const names = opened.map(({ set }) => set.name)
  const twice = names.find((one, index) => names.indexOf(one) !== index)
  if (twice !== undefined)
    throw new Problem(`Two task sets are called ${twice}: name each once, or rename a file.`)
  const { identity } = await lab.options.model(opened[0]!.set)
  const price = priceOf(identity, executionSettings.parse(engine.execution ?? {}).prices)
  const model = `${identity.provider}/${identity.model}`
  const isSimulated = isSimulatedModel(model)
  const memberships = opened.map(({ set }) => membershipFile(set))
  writeOrCompare(join(folder, 'experiment.json'), {
    format: 'magic-experiment-1',
    experiment: name,
    settings,
    given: { ...options, routeBudget, ledger, execution: engine.execution },
    model: identity,
    price: price ?? null,
    encoder: { name: encoder.name, fingerprint: inputFingerprint(encoder) },
    transportFailures,
    sets: opened.map(({ set }, index) => ({
      name: set.name,
      membership: memberships[index]!.sha256,
      seed: options.seeds[0]!,
      library: set.library.fingerprint,
      versions: Object.fromEntries(Object.keys(set.splits).map((split) => [split, splitVersion(set, split)])),
    })),
  })
  mkdirSync(join(folder, 'memberships'), { recursive: true })
  for (const { file, text } of memberships) writeWhole(join(folder, file), text)

  const compared = definition.comparison?.(options)
  const trains = compared === undefined || compared.conditions.some((one) => 'training' in one)
  const { requestReuse } = trainingSettings.parse({ ...settings.training, ...options.training })
  const [seed] = options.seeds
  const deviations = [
    !isSimulated && modelDeviation(identity, settings.paperModel ?? notInPaper),
    settings.seed !== undefined &&
      settings.seed !== seed &&
      `The first seed is ${seed}, not ${settings.seed}.`,
    trains &&
      encoder.name === lexicalEncoder.name &&
      'The policy reads the vectors of the lexical encoder, not those of MiniLM.',
    ...opened.flatMap(({ set: { title, selection } }) => [
      typeof selection['deviation'] === 'string' && `${title}: ${selection['deviation']}`,
      ...(['train', 'test'] as const).map((part) => {
        const { selected = 0, used = 0 } = (selection[part] ?? {}) as { selected?: number; used?: number }
        return used < selected && `${title}: only the first ${used} of ${selected} ${part} questions.`
      }),
    ]),
    ...Object.entries({ ...options.training, ...(engine.execution as object | undefined) })
      // Prices are not a deviation.
      .filter(([setting]) => setting !== 'prices')
      .map(([setting, value]) => `${setting} is ${JSON.stringify(value)}.`),
    transportFailures !== 'zero' && 'A model that cannot be reached stops the evaluation.',
    trains &&
      requestReuse &&
      'Training makes identical requests at temperature 0 only once (request reuse); the paper only reuses graph–question pairs.',
  ].filter((one) => typeof one === 'string')
  const facts: [string, string][] = [
    ['software', `magic-agents ${version}, Node.js ${process.version}, ${arithmetic} arithmetic`],
    ['model', isSimulated ? `${model} (simulated)` : model],
    [
      'price',
      price === undefined
        ? 'none'
        : `${price.input} in, ${price.cachedInput} cached, ${price.output} out per million tokens, ${price.currency}, as of ${price.asOf}`,
    ],
    ['encoder', `${encoder.name}, ${inputFingerprint(encoder)}`],
    ['seeds', options.seeds.join(', ')],
    [
      'transport failures',
      transportFailures === 'zero' ? 'score 0 and stay in the denominator' : 'stop the evaluation',
    ],
    ...opened.flatMap(({ set }, index): [string, string][] => [
      [`${set.name}: library`, set.library.fingerprint],
      ...Object.keys(set.splits).map((split): [string, string] => [
        `${set.name}: ${split}`,
        `${set.splits[split]!.tasks.length} questions, ${splitVersion(set, split)}`,
      ]),
      [`${set.name}: membership`, `${memberships[index]!.file}, SHA-256 ${memberships[index]!.sha256}`],
    ]),
  ]
  return { isSimulated, deviations, facts }
}

function membershipFile(set: OpenedSet['set']) {
  const text = `${JSON.stringify(membership(set), null, 2)}\n`
  return { file: join('memberships', `${set.name}.json`), text, sha256: digestOf(text).sha256 }
}

function writeOrCompare(path: string, record: object): void {
  const text = `${JSON.stringify(record, null, 2)}\n`
  if (!existsSync(path)) writeWhole(path, text)
  const begun = JSON.parse(readFileSync(path, 'utf8')) as JsonObject
  const changes = changesBetween(begun, JSON.parse(text) as JsonObject)
  if (changes.length === 0) return
  throw new Problem(
    `${path} belongs to an experiment with other settings:\n${changes.map((line) => `  ${line}\n`).join('')}Repeat the original command, or choose another folder with --out.`,
  )
}
