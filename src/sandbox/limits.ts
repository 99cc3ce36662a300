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

/** How many seconds count as one of wall-clock time when a program is run again that had to wait for a core. */
export const stretchedSecond = 4

/**
 * Whether a program met its limit of wall-clock time because it had to wait for a core: it was at work, not asleep, and more
 * than twice as many processes want to run here as there are cores.
 */
export function hadToWait(
  cpuSeconds: number,
  wallSeconds: number,
  load = loadavg()[0]! / availableParallelism(),
): boolean {
  return load > 2 && cpuSeconds > wallSeconds / 10
}
