import { resolve } from 'node:path'
import type { OpenedSet } from '../../experiments/laboratory.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { type Benchmark, hasStudy } from '../../tasks/benchmarks/benchmark.ts'
import { type BenchmarkName, benchmarks } from '../../tasks/benchmarks/list.ts'
import type { Study } from '../../tasks/studies/study.ts'
import { openTasks, type TaskSource } from './task-options.ts'

export type ExperimentTasks = Pick<TaskSource, 'data' | 'trainSize' | 'testSize'>

/** Number of questions per study, for benchmarks that the paper did not use in it. */
const studySizes: Readonly<Record<Exclude<Study, 'q1'>, { train: number; test: number }>> = {
  q2: { train: 100, test: 100 },
  q3: { train: 100, test: 200 },
  d1: { train: 0, test: 200 },
  d3: { train: 30, test: 0 },
}

/**
 * Opens a benchmark with a study's questions, or a whole question file. If the paper did not use the benchmark in this
 * study, it takes the first questions of Q1's selection and records that as a deviation.
 */
export async function openExperimentTasks(
  tasks: string,
  study: Study,
  { data, trainSize, testSize }: ExperimentTasks,
  /** Stored with the source, so that a run can be resumed. */
  kept: object,
  say: (text: string) => void,
): Promise<OpenedSet> {
  const benchmark = Object.hasOwn(benchmarks, tasks) ? benchmarks[tasks as BenchmarkName] : undefined
  const isStandIn = benchmark !== undefined && study !== 'q1' && !hasStudy(benchmark as Benchmark, study)
  const most = isStandIn ? studySizes[study] : { train: undefined, test: undefined }
  const source: TaskSource = JSON.parse(
    JSON.stringify({
      tasks: /[./]/.test(tasks) ? resolve(tasks) : tasks,
      study: benchmark === undefined ? undefined : isStandIn ? 'q1' : study,
      data: data && resolve(data),
      trainSize: smaller(trainSize, most.train),
      testSize: smaller(testSize, most.test),
    }),
  )
  const { set, source: found, notes } = await openTasks(source)
  for (const note of notes) say(note)
  const standsIn = `The paper does not run ${study.toUpperCase()} on this benchmark; these are the first questions of Q1's selection.`
  const { deviation } = set.selection
  const selection = isStandIn
    ? {
        ...set.selection,
        deviation: [standsIn, ...(typeof deviation === 'string' ? [deviation] : [])].join(' '),
      }
    : set.selection
  return {
    set: { ...set, selection, contractOf: (task) => set.contractOf(task) },
    source: { ...kept, tasks: found } as unknown as JsonObject,
  }
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}
