import { InvalidArgumentError, Option } from 'commander'
import type { Configuration } from '../../configuration/configuration.ts'
import type { LearnerSource } from '../../learning/graph-learner.ts'
import type { ChatModel, ModelIdentity } from '../../models/chat-model.ts'
import { type ProviderName, providers } from '../../models/providers.ts'
import { learnerSource } from '../../organisations/learned/learner-source.ts'
import { learners } from '../../organisations/learned/list.ts'
import type { KnownTask } from '../../simulator/model/known-task.ts'
import { simulatedModelName } from '../../simulator/model/simulated-name.ts'
import { UsageError } from '../problem.ts'
import { type ModelOptions, type ModelSource, openChosenModel, unaskedModel } from './model-options.ts'
import type { GivenOrganisation } from './organisation-option.ts'

/** Further models by name, as plain data without keys. */
export type PoolSource = Readonly<Record<string, PooledModel>>

interface PooledModel {
  readonly source: ModelSource
  /** What a system that chooses among models is told about it. */
  readonly description?: string
}

export interface PoolOptions extends ModelOptions {
  readonly models?: PoolSource
}

export function modelsOption(): Option {
  return new Option(
    '--models <list>',
    'further models for systems that choose one per agent, such as mas-router: deepseek,alibaba/qwen-flash',
  ).argParser(parsePool)
}

/** `provider` or `provider/model`, separated by commas; `simulated/7` is the simulated model with seed 7. */
function parsePool(text: string): PoolSource {
  const names = text.split(',').map((name) => name.trim())
  return Object.fromEntries(names.map((name) => [name, { source: parseModel(name) }]))
}

function parseModel(name: string): ModelSource {
  const [provider = '', ...rest] = name.split('/')
  const model = rest.length === 0 ? undefined : rest.join('/')
  if (provider === simulatedModelName) {
    const seed = Number(model ?? 0)
    if (!Number.isSafeInteger(seed) || seed < 0)
      throw new InvalidArgumentError(`'${name}' is no model. Write simulated/SEED, such as simulated/7.`)
    return simulatedSource(seed)
  }
  if (!Object.hasOwn(providers, provider))
    throw new InvalidArgumentError(
      `'${name}' is no model. Write provider or provider/model; providers: ${[simulatedModelName, ...Object.keys(providers)].join(', ')}.`,
    )
  return { kind: 'endpoint', settings: { preset: provider as ProviderName, ...(model && { model }) } }
}

function simulatedSource(seed: number): ModelSource {
  return { kind: 'simulated', seed, latencyMs: 0, faults: {} }
}

/** Flags override the configuration. */
export function poolSource(
  { models, record, replay }: PoolOptions,
  configured: Configuration['models'],
): PoolSource | undefined {
  const pool = models ?? (configured && configuredPool(configured))
  if (pool !== undefined && (record ?? replay) !== undefined)
    throw new UsageError('--record and --replay work with one model only. Leave out --models.')
  return pool
}

function configuredPool(models: NonNullable<Configuration['models']>): PoolSource {
  return Object.fromEntries(
    Object.entries(models).map(([name, given]): [string, PooledModel] => {
      if (given === simulatedModelName) return [name, { source: simulatedSource(0) }]
      const { description, ...settings } = given
      return [name, { source: { kind: 'endpoint', settings }, ...(description && { description }) }]
    }),
  )
}

/** `unasked`: workers call them, so this process needs no keys. */
export async function openPool(
  pool: PoolSource | undefined,
  known: readonly KnownTask[],
  { unasked = false }: { readonly unasked?: boolean } = {},
): Promise<AsyncDisposable & { readonly models?: Readonly<Record<string, ChatModel>> }> {
  await using opening = new AsyncDisposableStack()
  const models: Record<string, ChatModel> = {}
  for (const [name, { source }] of Object.entries(pool ?? {})) {
    const opened = unasked ? unaskedModel(source, known) : openChosenModel({}, known, source)
    models[name] = opening.use(await opened).model
  }
  const all = opening.move()
  return { models: pool && models, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Who the models are; knowing that takes no key. */
export async function poolIdentities(
  pool: PoolSource | undefined,
): Promise<Readonly<Record<string, ModelIdentity>> | undefined> {
  const { models } = await openPool(pool, [], { unasked: true })
  return models && Object.fromEntries(Object.entries(models).map(([name, { identity }]) => [name, identity]))
}

/** The system to train, with the pool of models if it chooses among them. Throws if a pool is given but not used. */
export async function chosenLearner(
  organisation: GivenOrganisation | undefined,
  pool: PoolSource | undefined,
): Promise<LearnerSource | undefined> {
  const choosing = learners.filter(({ options }) => 'models' in options.shape).map(({ name }) => name)
  if (pool !== undefined && !choosing.includes(organisation?.name ?? ''))
    throw new UsageError(
      `${organisation?.name ?? 'A policy'} uses one model for all agents. Only ${choosing.join(', ')} can choose among --models.`,
    )
  if (organisation === undefined) return undefined
  const { name, options } = organisation
  return learnerSource(name, pool === undefined ? options : { models: await cardsOf(pool), ...options })
}

async function cardsOf(pool: PoolSource) {
  const identities = (await poolIdentities(pool))!
  return Object.entries(pool).map(([name, { description }]) => {
    const { provider, model } = identities[name]!
    return { name, description: description ?? `${model} of ${provider}` }
  })
}
