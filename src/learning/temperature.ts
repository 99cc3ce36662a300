/** Linear annealing of the policy's temperature over the updates of a run. */
export interface TemperatureSchedule {
  /** Temperature of the first update. */
  readonly start: number
  /** Temperature of the last update, and of evaluation. */
  readonly end: number
  /** Updates from the first to the last. */
  readonly updates: number
}

/** The paper's schedule for its training runs. */
export const paperTemperature: TemperatureSchedule = { start: 1.2, end: 1, updates: 100 }

/**
 * The temperature of an update, counted from 0: exactly `start` at update 0, exactly `end` at update `updates` − 1,
 * evenly spaced between them. A schedule of one update has no way to go and samples at `start`, as every first
 * update does; updates past the last, as when a finished run is continued, stay at `end`.
 */
export function temperatureAt(update: number, schedule: TemperatureSchedule): number {
  const { start, end, updates } = schedule
  for (const [field, value] of Object.entries({ start, end })) {
    if (!(Number.isFinite(value) && value > 0)) {
      throw new RangeError(`The temperature's ${field} is ${value}; it must be a finite number above 0.`)
    }
  }
  if (!(Number.isInteger(updates) && updates >= 1)) {
    throw new RangeError(`The temperature's updates is ${updates}; it must be a whole number of at least 1.`)
  }
  if (!(Number.isInteger(update) && update >= 0)) {
    throw new RangeError(`There is no update ${update}: updates are counted 0, 1, 2, ...`)
  }
  if (update === 0) return start
  const progress = Math.min(1, update / (updates - 1))
  return (1 - progress) * start + progress * end
}
