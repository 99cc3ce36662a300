import { availableParallelism, loadavg } from 'node:os'

/** What one case of a program may use. Starting the sandbox does not count. */
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

/** All that is done for one program, sandboxes and waiting included. */
export const infrastructureSeconds = 30

/**
 * How many seconds count as one of wall-clock time. A program that has to wait for a core is not slow: where more than twice
 * as many processes want to run as there are cores, its clock goes at a quarter of the speed. Processor time is what ends a
 * loop then.
 */
export function secondsPerWallSecond(load = loadavg()[0]!, cores = availableParallelism()): number {
  return load > 2 * cores ? 4 : 1
}
