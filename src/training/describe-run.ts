import { readFileSync } from 'node:fs'
import { inputFingerprint } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { JsonObject } from '../library/json-value.ts'
import { arithmetic } from '../numerics/kernels/kernels.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import type { TrainingSettings } from '../settings/training.ts'
import type { RunRecord } from '../store/run-folder.ts'
import { describeTools } from '../store/run-tools.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitVersion } from '../tasks/task-set.ts'

/** A run with everything chosen that was left open. */
export interface BegunRun {
  readonly name: string
  readonly parts: ExecutorParts
  readonly settings: TrainingSettings
  readonly budget: BudgetSettings
  readonly encoder: FrozenTextEncoder
  /** Updates that it has when it is finished. */
  readonly updates: number
  readonly source?: JsonObject
}

/** All that decides the numbers of a run, as `run.json` keeps it. */
export function describeRun(run: BegunRun): RunRecord {
  const { name: runName, parts, settings, budget, encoder, updates, source } = run
  const { set, model, limit } = parts
  const { name, title, metric, library, profile } = set
  const executor = new TaskExecutor(parts)
  const contracts = Object.values(set.splits)
    .flatMap(({ tasks }) => tasks)
    .map((task) => [set.contractOf(task).name, executor.fingerprint(task)] as const)
  return {
    format: 'magic-run-1',
    name: runName,
    createdAt: new Date().toISOString(),
    version,
    ...(source === undefined ? {} : { source: structuredClone(source) as RunRecord['source'] }),
    tasks: {
      name,
      title,
      metric,
      splits: Object.fromEntries(
        Object.entries(set.splits).map(([split, { tasks }]) => [
          split,
          { tasks: tasks.length, version: splitVersion(set, split) },
        ]),
      ),
    },
    library: library.fingerprint,
    profile: { id: profile.id, roles: [...profile.roles], tools: [...profile.tools] },
    tools: describeTools(profile, parts.tools),
    encoder: { name: encoder.name, fingerprint: inputFingerprint(encoder) },
    model: structuredClone(model.identity) as RunRecord['model'],
    executors: Object.fromEntries(contracts),
    execution: JSON.parse(JSON.stringify(parts.settings)) as RunRecord['execution'],
    training: settings,
    budget,
    concurrency: limit.limit,
    arithmetic,
    updates,
  }
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
