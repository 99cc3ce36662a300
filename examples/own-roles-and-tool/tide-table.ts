import type { Tool } from 'magic-agents'
import { z } from 'zod'

const firstHighWater: Readonly<Record<string, number>> = { Skerry: 23, Lunnan: 102, Hamn: 261 }

/** Our own tool. A model requests it by name, with a payload that fits the schema. */
export const tideTable: Tool<{ port: string; day: number }> = {
  name: 'tide_table',
  description: 'Minutes after midnight of the first high water: {"port": "Skerry", "day": 3}.',
  payload: z.object({ port: z.string(), day: z.int().min(1).max(31) }),
  async run({ port, day }) {
    const first = firstHighWater[port]
    // A model's mistake is data for the model, not an exception.
    if (first === undefined)
      return { status: 'error', reason: 'failed', message: `There is no table for ${port}.` }
    return { status: 'ok', result: { minutes: (first + 50 * day) % 720 } }
  },
}
