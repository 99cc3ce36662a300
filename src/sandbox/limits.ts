import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** Limits of one case. Starting the sandbox does not count. */
export interface Limits {
  /** Processor time of all its threads. */
  readonly cpuSeconds: number
  readonly wallSeconds: number
  readonly memoryBytes: number
  /** Standard output and standard error together. */
  readonly outputBytes: number
}

/** The paper's limits ("Code evaluation and pass@1"). */
export const paperLimits: Limits = {
  cpuSeconds: 2,
  wallSeconds: 3,
  memoryBytes: 256 * 2 ** 20,
  outputBytes: 64 * 2 ** 10,
}

/** Time limit for everything done for one program, including starting sandboxes. */
export const infrastructureSeconds = 30

/** Factor on wall-clock limits when a program that had to wait for a core is run again. */
export const stretchedSecond = 4

/**
 * Whether a program hit its wall-clock limit because it had to wait for a core: more than twice as many processes
 * want to run as there are cores, and it was not asleep, but had a tenth of a core or half of its fair share.
 */
export function hadToWait(cpuSeconds: number, wallSeconds: number, load = loadPerCore()): boolean {
  return load > 2 && cpuSeconds > wallSeconds * Math.min(0.1, 0.5 / load)
}

/** Processes that want to run, per core: the average over the last minute, or the current number if higher. */
function loadPerCore(): number {
  let now = 0
  try {
    // 0.20 0.18 0.12 running/all last
    now = Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0)
  } catch {
    // Not Linux.
  }
  return Math.max(loadavg()[0]!, now) / availableParallelism()
}
