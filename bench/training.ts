// How long a training update takes, compared with the minimum its calls allow and with the same update run sequentially; and how
// many calls request reuse saves over a run.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { lexicalEncoder } from '../src/encoder/lexical-encoder.ts'
import type { ParameterValues } from '../src/numerics/parameters.ts'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { readLines } from '../src/store/durable-file.ts'
import { RunFolder } from '../src/store/run-folder.ts'
import type { TaskSet } from '../src/tasks/task-set.ts'
import { train } from '../src/training/train.ts'
import type { TrainingEvent } from '../src/training/train-options.ts'
import type { TrajectoryRecord, UpdateRecord } from '../src/training/update-record.ts'
import { atLeast, atMost, type Bench, Samples } from './bench.ts'
import { LatencyModel } from './training/latency-model.ts'
import { trainingQuestions } from './training/questions.ts'
import { type SequentialUpdate, trainSequentially } from './training/sequential-training.ts'

/**
 * For a typical answer; calls vary with length and luck. Hosted models seldom take less, and with slower ones our own time matters
 * less. The timed updates then take two and a half minutes.
 */
const latencyMs = 1000
const seed = 1

/** More than an update ever needs. */
const unlimited = 10_000

export const trainingBench: Bench = async ({ quick, say }) => {
  const updates = quick ? 12 : 100
  const timed = quick ? 2 : 12
  const set = trainingQuestions(updates)
  const folder = mkdtempSync(join(tmpdir(), 'bench-training-'))
  try {
    say(`${updates} updates in sequence …`)
    const sequential = await trainSequentially(set, join(folder, 'sequential.sqlite'), {
      tasks: knownTasks(set),
      seed,
      latencyMs,
    })
    say(`${updates} updates with request reuse, without waiting …`)
    const whole = await trainHere(set, join(folder, 'whole'), {
      latencyMs: 0,
      concurrency: 8,
      stopAfter: updates,
    })
    assertSameTrajectories(whole, sequential.updates)
    assertSameWeights(whole.weights, sequential.weights)

    const c8 = await measure(set, join(folder, 'c8'), 8, timed, sequential.updates, say)
    const free = await measure(set, join(folder, 'unlimited'), unlimited, timed, sequential.updates, say)
    const callsInSequence = sum(sequential.updates.map(({ calls }) => calls))
    return {
      figures: {
        update_wall_vs_bound_c8: c8.overBound.median,
        update_wall_vs_bound_unlimited: free.overBound.median,
        speedup_vs_sequential_c8: c8.speedup,
        speedup_vs_sequential_unlimited: free.speedup,
        calls_vs_no_reuse: whole.calls / callsInSequence,
      },
      goals: {
        update_wall_vs_bound_c8: atMost(1.1),
        update_wall_vs_bound_unlimited: atMost(1.1),
        speedup_vs_sequential_c8: atLeast(10),
        speedup_vs_sequential_unlimited: atLeast(25),
        calls_vs_no_reuse: atMost(0.6),
      },
      latencyMs,
      c8: c8.details,
      unlimited: free.details,
      calls: { updates, inSequence: callsInSequence, withReuse: whole.calls },
      machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface TimedUpdate {
  /** From the end of the previous update to its own, including the checkpoint. */
  readonly wallMs: number
  readonly record: UpdateRecord
}

interface TrainedHere {
  readonly updates: readonly TimedUpdate[]
  readonly trajectories: readonly TrajectoryRecord[]
  readonly weights: ParameterValues
  readonly calls: number
  /** From the start of the first update until everything is written and closed. */
  readonly wallMs: number
}

/** A normal run, stopped early. */
async function trainHere(
  set: TaskSet,
  path: string,
  options: { readonly latencyMs: number; readonly concurrency: number; readonly stopAfter: number },
): Promise<TrainedHere> {
  const model = new LatencyModel({ tasks: knownTasks(set), seed, latencyMs: options.latencyMs })
  const updates: TimedUpdate[] = []
  const enough = new AbortController()
  let start = 0
  let before = 0
  let callsBefore = 0
  const onEvent = (event: TrainingEvent) => {
    const now = performance.now()
    if (event.type === 'start') {
      start = now
      before = now
      callsBefore = model.calls
    }
    if (event.type !== 'update') return
    updates.push({ wallMs: now - before, record: event })
    before = now
    if (updates.length === options.stopAfter) enough.abort()
  }
  await train({
    set,
    model,
    folder: path,
    concurrency: options.concurrency,
    encoder: lexicalEncoder,
    sandbox: null,
    onEvent,
    signal: enough.signal,
  })
  const wallMs = performance.now() - start
  const folder = new RunFolder(path)
  return {
    updates,
    trajectories: readLines(folder.trajectoriesFile) as TrajectoryRecord[],
    weights: folder.readCheckpoint({})!.parameters,
    calls: model.calls - callsBefore,
    wallMs,
  }
}

async function measure(
  set: TaskSet,
  path: string,
  concurrency: number,
  count: number,
  sequential: readonly SequentialUpdate[],
  say: (line: string) => void,
) {
  const calls = concurrency === unlimited ? 'all calls' : `${concurrency} calls`
  say(`${count} updates with ${calls} at once, ${latencyMs} ms each …`)
  const run = await trainHere(set, path, { latencyMs, concurrency, stopAfter: count })
  assertSameTrajectories(run, sequential)
  const overBound = new Samples()
  const speedups = new Samples()
  for (const [index, { wallMs, record }] of run.updates.entries()) {
    overBound.add(wallMs / record.boundMs)
    speedups.add(sequential[index]!.wallMs / wallMs)
  }
  const inSequence = sum(sequential.slice(0, count).map(({ wallMs }) => wallMs))
  const bounds = sum(run.updates.map(({ record }) => record.boundMs))
  return {
    overBound,
    // The whole time of these updates, as a user would wait for it.
    speedup: inSequence / sum(run.updates.map(({ wallMs }) => wallMs)),
    details: {
      wallOverBound: spread(overBound),
      wholeRunOverBounds: run.wallMs / bounds,
      speedups: spread(speedups),
      updates: run.updates.map(({ wallMs, record }, index) => ({
        wallMs: Math.round(wallMs),
        boundMs: Math.round(record.boundMs),
        sequentialMs: Math.round(sequential[index]!.wallMs),
        calls: record.made.calls,
        sequentialCalls: sequential[index]!.calls,
      })),
    },
  }
}

function spread(samples: Samples): { least: number; median: number; most: number } {
  return { least: samples.quantile(0), median: samples.median, most: samples.quantile(1) }
}

/** Compares rewards, actions, probes and everything else. */
function assertSameTrajectories(run: TrainedHere, sequential: readonly SequentialUpdate[]): void {
  for (const { update, trajectories } of run.trajectories)
    if (JSON.stringify(trajectories) !== JSON.stringify(sequential[update]!.trajectories))
      throw new Error(`Update ${update} has different trajectories or rewards than the sequential run.`)
}

function assertSameWeights(weights: ParameterValues, others: ParameterValues): void {
  for (const [name, { data }] of weights)
    if (
      !Buffer.from(Float32Array.from(data).buffer).equals(
        Buffer.from(Float32Array.from(others.get(name)!.data).buffer),
      )
    )
      throw new Error(`The weights ${name} differ from the sequential run.`)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
