import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { Problem } from '../../problem.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import { RunFolder } from '../../store/run-folder.ts'
import { d3Statistics } from '../tables/d3-statistics.ts'

/** The part of a line of `trajectories.jsonl` that D3 needs: the group of one update. */
const group = z.object({
  trajectories: z
    .array(
      z.object({
        transitions: z.array(z.object({ reward: z.number() })),
        terminal_reward: z.number(),
        terminal_shaping_reward: z.number(),
        forcedStop: z.boolean(),
        settings: z
          .object({
            eta: z.number().default(1),
            callPenalty: z.number().default(0),
            tokenPenalty: z.number().default(0),
          })
          .prefault({}),
      }),
    )
    .min(1),
})

/** Computes D3's statistics from a run's `trajectories.jsonl`. */
export function recordedCredit(file: string) {
  if (!existsSync(file)) throw new Problem(`There is no file ${file}. Name a run's trajectories.jsonl.`)
  const groups = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [readGroup(line, `Line ${index + 1} of ${file}`)]))
  if (groups.length === 0) throw new Problem(`${file} has no trajectories. Name a run's trajectories.jsonl.`)
  return d3Statistics(groups, unitLimit(file, groups))
}

/** According to the run's record; false for a file without a run. */
export function isOfSimulatedRun(file: string): boolean {
  const run = new RunFolder(dirname(file))
  if (!run.exists) return false
  const { provider, model } = run.readRecord().model
  return isSimulatedModel(`${provider}/${model}`)
}

function readGroup(line: string, place: string) {
  let content: unknown
  try {
    content = JSON.parse(line)
  } catch {
    throw new Problem(`${place} is not JSON. Name a run's trajectories.jsonl.`)
  }
  const { data, error } = group.safeParse(content)
  if (error !== undefined)
    throw new Problem(`${place} is not a group of trajectories.\n${z.prettifyError(error)}`)
  const isPlain = data.trajectories.every(
    ({ settings: { eta, callPenalty, tokenPenalty } }) =>
      eta === 1 && callPenalty === 0 && tokenPenalty === 0,
  )
  if (!isPlain)
    throw new Problem(
      `${place} was recorded with a discount other than 1 or with call or token penalties: its returns are not scores.`,
    )
  return data.trajectories.map(({ transitions, ...trajectory }) => ({
    rewards: transitions.map(({ reward }) => reward),
    terminalReward: trajectory.terminal_reward,
    terminalShapingReward: trajectory.terminal_shaping_reward,
    forcedStop: trajectory.forcedStop,
  }))
}

/** From the run's record. For a file without a run: the size at which STOPs were forced, else above the largest. */
function unitLimit(file: string, groups: ReturnType<typeof readGroup>[]): number {
  const run = new RunFolder(dirname(file))
  if (run.exists) return run.readRecord().training.maxUnits
  const all = groups.flat()
  const forced = all.find(({ forcedStop }) => forcedStop)
  return forced?.rewards.length ?? Math.max(...all.map(({ rewards }) => rewards.length)) + 1
}
