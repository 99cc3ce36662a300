import type { WorkOverview } from '../workers/overview.ts'
import { family, labels } from './metrics.ts'

/** Queue, workers and shared rate limits in Prometheus' text format. */
export function workMetrics({ workers, queue, models, refusals }: WorkOverview): string {
  const alive = workers.filter(({ state }) => state !== 'silent')
  const gauge = (name: string, help: string, values: number | readonly (readonly [string, number])[]) =>
    family(name, 'gauge', help, new Map(typeof values === 'number' ? [['', values]] : values))
  const perWorker = (read: (worker: WorkOverview['workers'][number]) => number) =>
    alive.map((worker) => [labels({ worker: worker.name, id: worker.id }), read(worker)] as const)
  const perRun = (read: (run: WorkOverview['queue']['runs'][number]) => number) =>
    queue.runs.map((run) => [labels({ run: run.run }), read(run)] as const)
  const lines = [
    ...gauge('magic_work_waiting', 'Evaluations that no worker has taken yet.', queue.waiting),
    ...gauge('magic_work_running', 'Evaluations under way.', queue.running),
    ...gauge('magic_work_oldest_seconds', 'Age of the oldest waiting evaluation.', queue.oldestSeconds),
    ...gauge('magic_work_per_second', 'Evaluations made per second, over the last minute.', queue.rate),
    ...gauge('magic_work_refusals', 'Runs refused by workers.', refusals.length),
    ...gauge(
      'magic_work_run_waiting',
      'Waiting evaluations by run.',
      perRun(({ waiting }) => waiting),
    ),
    ...gauge(
      'magic_work_run_running',
      'Evaluations under way by run.',
      perRun(({ running }) => running),
    ),
    ...gauge('magic_workers', 'Workers with a lease.', alive.length),
    ...gauge(
      'magic_worker_calls_limit',
      'Concurrent model calls that all workers together allow.',
      alive.reduce((sum, { calls }) => sum + calls, 0),
    ),
    ...gauge(
      'magic_worker_running',
      'Evaluations under way by worker.',
      perWorker(({ running }) => running),
    ),
    ...gauge(
      'magic_worker_done',
      'Evaluations done by worker, since it took its lease.',
      perWorker(({ done }) => done),
    ),
    ...gauge(
      'magic_worker_per_second',
      'Evaluations per second by worker.',
      perWorker(({ rate }) => rate),
    ),
    ...gauge(
      'magic_model_calls_per_minute',
      'Model calls of all workers.',
      models.map(({ model, callsPerMinute }) => [labels({ model }), callsPerMinute] as const),
    ),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
