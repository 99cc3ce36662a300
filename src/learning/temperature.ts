import type { TrainingSettings } from '../settings/training.ts'

/**
 * The temperature of an update, counted from 0: exactly the start's at update 0, exactly the end's at the last of `updates`,
 * evenly spaced between them. A run of one update samples at the start; updates past the last, as when a finished run is
 * continued, stay at the end.
 */
export function temperatureAt(
  update: number,
  updates: number,
  {
    temperatureStart: start,
    temperatureEnd: end,
  }: Pick<TrainingSettings, 'temperatureStart' | 'temperatureEnd'>,
): number {
  if (update === 0) return start
  const progress = Math.min(1, update / (updates - 1))
  return (1 - progress) * start + progress * end
}
