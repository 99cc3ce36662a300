import { expect } from 'vitest'
import { readLines } from '../../src/store/durable-file.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import type { TrainOptions } from '../../src/training/train-options.ts'
import type { UpdateRecord } from '../../src/training/update-record.ts'
import { learned, modelAround, tinyModel, trainTiny } from '../tiny-training.ts'

/** Trains to the end, but stops after `callsOf(attempt)` calls each time and resumes. */
export async function trainWithStops(
  folder: string,
  callsOf: (attempt: number) => number,
  options: Partial<TrainOptions>,
): Promise<void> {
  let status = ''
  for (let attempt = 0; attempt < 100 && status !== 'finished'; attempt += 1) {
    const stop = new AbortController()
    const model = modelAround(async (request, signal, number) => {
      if (number === callsOf(attempt)) stop.abort(new Error('enough'))
      return tinyModel.ask(request, signal)
    })
    ;({ status } = await trainTiny(folder, { ...options, model, signal: stop.signal }))
  }
  expect(status).toBe('finished')
}

/** Both runs have the same weights, moments and trajectories, bit for bit. */
export function expectSameLearning(folder: string, reference: string): void {
  const [one, other] = [learned(folder), learned(reference)]
  expect(one.weights.equals(other.weights)).toBe(true)
  expect(one.moments.equals(other.moments)).toBe(true)
  expect(one.trajectories).toBe(other.trajectories)
}

/** Both runs have paid for the same number of calls. */
export function expectSameSpending(folder: string, reference: string): void {
  const calls = (path: string) =>
    (readLines(new RunFolder(path).eventsFile) as UpdateRecord[]).at(-1)!.spent.calls
  expect(calls(folder)).toBe(calls(reference))
}
