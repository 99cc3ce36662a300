import { z } from 'zod'
import type { Tool } from '../execution/tools/tool.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import { identifierPattern } from '../library/identifier.ts'
import type { Library } from '../library/library.ts'
import { modelSettings } from '../models/open-model.ts'
import { priceTableSchema } from '../models/prices.ts'
import { runSettings } from '../settings/run-settings.ts'
import { type TrainingPreset, trainingPresets } from '../settings/training.ts'
import { benchmarkNames } from '../tasks/benchmarks/list.ts'
import { answerKinds } from '../tasks/own/answer-kind.ts'
import type { DefinedTasks } from '../tasks/own/define-tasks.ts'
import type { JudgeScorer } from '../tasks/own/judge-scorer.ts'
import { type ScorerName, scorerNames } from '../tasks/own/named-scorer.ts'
import { didYouMean } from '../tasks/own/nearest-name.ts'
import type { GivenScorer } from '../tasks/own/own-scorer.ts'
import { isQuestionFile } from '../tasks/own/question-file.ts'

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const has = (value: unknown, fields: Readonly<Record<string, string>>): boolean =>
  isObject(value) && Object.entries(fields).every(([field, type]) => typeof value[field] === type)

const path = z.string().min(1)

const contract = z.custom<AnswerContract>(
  (value) =>
    has(value, { name: 'string', requirement: 'string', check: 'function', description: 'object' }) &&
    Array.isArray((value as Fields)['types']),
  'must be an answer contract; schemaContract makes one from a schema',
)

const scorer = z.custom<GivenScorer | ScorerName | JudgeScorer>(
  (value) =>
    typeof value === 'function' ||
    has(value, { score: 'function', version: 'string' }) ||
    (has(value, { judge: 'string' }) && Object.keys(value as Fields).length === 1) ||
    (scorerNames as readonly unknown[]).includes(value),
  `must be a function (answer, reference) => score, or { score, version } with such a function, or one of ${scorerNames.join(', ')}, or { judge: 'what makes an answer right' }`,
)

const library = z.custom<Library | string>(
  (value) =>
    (typeof value === 'string' && /\.ya?ml$/i.test(value)) ||
    (has(value, { fingerprint: 'string', space: 'object' }) && Array.isArray((value as Fields)['roles'])),
  'must be a library (defineLibrary makes one) or the path of a YAML file',
)

const tool = z.custom<Tool>(
  (value) =>
    has(value, { name: 'string', description: 'string', payload: 'object', run: 'function' }) &&
    has((value as Tool).payload, { safeParse: 'function' }) &&
    identifierPattern.test((value as Tool).name),
  'must be a tool: { name, description, payload, run }, with a zod schema as its payload',
)

/** Names allowed for `tasks` besides files. */
const builtInTasks: readonly string[] = ['synthetic', ...benchmarkNames]

const tasks = z.custom<string | { readonly train: string; readonly test: string } | DefinedTasks>(
  (value) =>
    typeof value === 'string'
      ? builtInTasks.includes(value) || isQuestionFile(value)
      : has(value, { load: 'function' }) ||
        (has(value, { train: 'string', test: 'string' }) &&
          Object.values(value as Fields).every((file) => typeof file === 'string')),
  {
    error: ({ input }) =>
      typeof input === 'string'
        ? `'${input}' is neither a question file (.jsonl or .csv) nor one of ${builtInTasks.join(', ')}.${didYouMean(input, builtInTasks)}`
        : 'must be a question file, { train, test } with two of them, or the result of defineTasks',
  },
)

const simulatedOrSettings = "must be 'simulated' or settings, such as { preset: 'deepseek' }"

/** The schema of `magic.config.ts`, explained in docs/tasks.md. */
export const configurationSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must have lower-case letters, digits, '-' and '_' only"),
    tasks,
    answer: z.enum(answerKinds),
    /** How far a number may be off, as a share of the right one. */
    tolerance: z.number().min(0).lt(1),
    contract,
    scorer,
    library,
    /** Which of the roles and tools take part. */
    profile: z.strictObject({ roles: z.array(z.string()).min(1), tools: z.array(z.string()) }).partial(),
    tools: z.array(tool),
    model: z.union([
      z.literal('simulated', simulatedOrSettings),
      // Prices by provider/model, overriding the published ones.
      modelSettings.extend({ prices: priceTableSchema.optional() }),
    ]),
    /** Further models by name, for systems that choose one per agent; `model.prices` has their prices, too. */
    models: z.record(
      z.string().min(1),
      z.union([
        z.literal('simulated', simulatedOrSettings),
        modelSettings.extend({ description: z.string().optional() }),
      ]),
    ),
    encoder: z.union([z.enum(['auto', 'minilm', 'lexical']), z.strictObject({ folder: path })]),
    preset: z.enum(Object.keys(trainingPresets) as [TrainingPreset]),
    training: runSettings.training,
    execution: runSettings.execution,
    budget: runSettings.budget,
    concurrency: runSettings.concurrency,
    runsDir: path,
  })
  .partial()

/** The configuration as written by the user. */
export type MagicConfiguration = z.input<typeof configurationSchema>

export function isBuiltInTaskSet(tasks: unknown): boolean {
  return typeof tasks === 'string' && builtInTasks.includes(tasks)
}
