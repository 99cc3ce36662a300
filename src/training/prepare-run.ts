import { basename } from 'node:path'
import { chooseEncoder } from '../encoder/choose-encoder.ts'
import { inputFingerprint } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { openToolbox } from '../execution/toolbox.ts'
import { CallLimit } from '../models/call-limit.ts'
import type { Clock } from '../models/clock.ts'
import { runPriceOf, unpricedOf } from '../models/prices.ts'
import type { Allowance } from '../models/retry.ts'
import { arithmetic } from '../numerics/kernels/kernels.ts'
import { Problem, validated } from '../problem.ts'
import { budgetSettings } from '../settings/budget.ts'
import { type ExecutionSettings, executionSettings } from '../settings/execution.ts'
import { type TrainingSettings, trainingSettings, updatesOf } from '../settings/training.ts'
import { CallAllowance } from '../store/allowance/call-allowance.ts'
import { MemoryAllowanceStore } from '../store/allowance/memory-store.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import { describeTools, type RunTools, sandboxOfRun } from '../store/run-tools.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, splitVersion } from '../tasks/task-set.ts'
import { version } from '../version.ts'
import type { EngineOptions, TrainOptions } from './train-options.ts'

export type PreparedRun = Awaited<ReturnType<typeof prepareRun>>

/** Fills in every choice that the options leave open. Writes nothing yet. */
export async function prepareRun(folder: RunFolder, options: TrainOptions) {
  const begun = options.resume === true ? folder.readRecord() : undefined
  // A run from before this setting existed keeps its original requests.
  const earlier = begun !== undefined && !('repeatStarterCode' in begun.execution)
  const execution = earlier
    ? { ...(options.execution as object), repeatStarterCode: true }
    : options.execution
  const parts = await openParts({ ...options, execution }, begun?.tools)
  const encoder = options.encoder ?? (await chosenEncoder(options))
  const training = validated(trainingSettings, options.settings ?? {}, 'training')
  const { library, profile } = parts.set
  const learner = await options.organisation?.open({ library, profile, encoder, seed: training.seed })
  const described = describeRun(basename(folder.path), parts, encoder, training, options)
  const questions = splitOf(parts.set, 'train').tasks.length
  const record = { ...described, updates: learner?.updatesFor(questions) ?? updatesOf(training, questions) }
  const price = runPriceOf(parts)
  if (learner?.needsPrice !== undefined && price === undefined) {
    const { name } = options.organisation!
    throw new Problem(
      `${name} learns from the cost of answers, but there is no price for ${unpricedOf(parts).join(', ')}. Set one under model.prices in the configuration (execution.prices from code), or ignore costs with ${name}:${learner.needsPrice}.`,
    )
  }
  return { folder, parts, encoder, price, record, learner }
}

/** `begun`: the tools the run was begun with, when resuming. */
export async function openParts(options: EngineOptions, begun: RunTools | undefined): Promise<ExecutorParts> {
  const { set, model, models, clock, concurrency, sandbox = await sandboxOfRun(begun) } = options
  const settings = validated(executionSettings, options.execution ?? {}, 'execution')
  const tools = openToolbox(sandbox, options.tools)
  const allowance = await allowanceOf(settings, clock)
  return { set, model, models, tools, settings, limit: new CallLimit(concurrency), clock, allowance }
}

/** Makes calls wait for the provider's rate limits, if these are set. */
async function allowanceOf(settings: ExecutionSettings, clock?: Clock): Promise<Allowance | undefined> {
  const { requestsPerMinute, tokensPerMinute, attemptSeconds } = settings
  if (requestsPerMinute === undefined && tokensPerMinute === undefined) return undefined
  const store = new MemoryAllowanceStore(clock?.now)
  await store.setLimits({ requestsPerMinute, tokensPerMinute })
  return new CallAllowance(store, { leaseMs: 2000 * attemptSeconds, clock })
}

async function chosenEncoder({ onEvent }: TrainOptions): Promise<FrozenTextEncoder> {
  const say = (text: string) => onEvent?.({ type: 'note', text })
  const { encoder, message } = await chooseEncoder({ onProblem: say })
  say(message)
  return encoder
}

/**
 * Everything about tasks, model, tools and settings that affects answers. A worker with the same description gives
 * the same answers.
 */
export function describeParts(parts: ExecutorParts) {
  const { set, model } = parts
  const { name, title, metric, library, profile } = set
  const executor = new TaskExecutor(parts)
  const splits = Object.entries(set.splits)
  const tasks = splits.flatMap(([, split]) => split.tasks)
  return {
    version,
    tasks: {
      name,
      title,
      metric,
      ...(set.scorer.judge === undefined ? {} : { judge: set.scorer.judge }),
      splits: Object.fromEntries(
        splits.map(([split, { tasks }]) => [
          split,
          { tasks: tasks.length, version: splitVersion(set, split) },
        ]),
      ),
    },
    library: library.fingerprint,
    profile: { id: profile.id, roles: [...profile.roles], tools: [...profile.tools] },
    tools: describeTools(profile, parts.tools),
    model: structuredClone(model.identity) as RunRecord['model'],
    ...(parts.models && { models: identitiesOf(parts.models) }),
    executors: Object.fromEntries(
      tasks.map((task) => [set.contractOf(task).name, executor.fingerprint(task)]),
    ),
    execution: JSON.parse(JSON.stringify(parts.settings)) as RunRecord['execution'],
  }
}

function identitiesOf(models: NonNullable<ExecutorParts['models']>): RunRecord['models'] {
  const identities = Object.entries(models).map(([name, { identity }]) => [name, identity])
  return structuredClone(Object.fromEntries(identities)) as RunRecord['models']
}

/** Everything that decides the numbers of a run, as stored in `run.json`. */
function describeRun(
  runName: string,
  parts: ExecutorParts,
  encoder: FrozenTextEncoder,
  training: TrainingSettings,
  { source, organisation, budget = {} }: TrainOptions,
): Omit<RunRecord, 'updates'> {
  const { version, tasks, library, profile, tools, ...rest } = describeParts(parts)
  return {
    format: 'magic-run-1',
    name: runName,
    createdAt: new Date().toISOString(),
    version,
    ...(source === undefined ? {} : { source: structuredClone(source) as RunRecord['source'] }),
    tasks,
    library,
    profile,
    tools,
    encoder: { name: encoder.name, fingerprint: inputFingerprint(encoder) },
    ...rest,
    training,
    ...(organisation && {
      organisation: structuredClone({
        name: organisation.name,
        options: organisation.options,
      }) as RunRecord['organisation'],
    }),
    budget: validated(budgetSettings, budget, 'budget'),
    concurrency: parts.limit.limit,
    arithmetic,
  }
}
