import type { Ask } from '../crash/processes.ts'

/** What happened to a training, and when. */
export interface Strike {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The key of the worker that was killed, stopped or cut off; none for other faults. */
  readonly worker?: string
}

/**
 * Describes calls that were needlessly made more than once. Only calls in flight at a worker that was
 * killed, stopped or cut off may be repeated, and none whose answer was already kept. `lostAt` says when
 * each worker was hit or lost its lease, `keptAt` when each answer was kept. Each worker has a limited
 * number of calls in flight.
 */
export function needlessRepeats(
  asks: readonly Ask[],
  lostAt: ReadonlyMap<string, number>,
  keptAt: ReadonlyMap<string, number>,
  slots: number,
): string[] {
  const repeats = repeatsOf(asks)
  const needless = repeats.flatMap(([first, again]) => {
    const kept = keptAt.get(again.digest)
    const lost = lostAt.get(first.who) ?? lostAt.get(again.who)
    const wasKept = kept !== undefined && kept < Math.min(again.at, lost ?? again.at)
    return lost !== undefined && !wasKept ? [] : [describe(first, again, lost, kept)]
  })
  const inFlight = slots * lostAt.size
  if (repeats.length > inFlight)
    needless.push(`${repeats.length} calls were repeated, and ${inFlight} can have been in flight`)
  return needless
}

export function repeatsOf(asks: readonly Ask[]): (readonly [first: Ask, again: Ask])[] {
  const last = new Map<string, Ask>()
  return asks.flatMap((ask) => {
    const before = last.get(ask.digest)
    last.set(ask.digest, ask)
    return before === undefined ? [] : [[before, ask] as const]
  })
}

function describe(first: Ask, again: Ask, lost: number | undefined, kept: number | undefined): string {
  const since = (at: number) => `${at - (lost ?? first.at)} ms`
  const answer = kept === undefined ? 'never kept' : `kept at ${since(kept)}`
  const struck = lost === undefined ? 'neither was struck' : 'one was struck at 0 ms'
  return `${first.digest.slice(0, 8)} asked by ${first.who} at ${since(first.at)} and by ${again.who} at ${since(again.at)}, answer ${answer}; ${struck}`
}
