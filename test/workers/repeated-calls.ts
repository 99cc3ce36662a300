import type { Ask } from '../crash/processes.ts'

/** What happened to a training, and when. */
export interface Strike {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The worker that was killed, stopped or cut off, by its key; none for other faults. */
  readonly worker?: string
}

/**
 * Which calls were asked for more than once without need, in words. Only calls that were in flight at a worker that was
 * killed, stopped or cut off may be repeated, and no call whose answer was kept before. `keptAt` says when each was kept.
 */
export function needlessRepeats(
  asks: readonly Ask[],
  strike: Strike | undefined,
  keptAt: ReadonlyMap<string, number>,
  slots: number,
): string[] {
  const repeats = repeatsOf(asks)
  const needless = repeats.flatMap(([first, again]) => {
    const kept = keptAt.get(again.digest)
    const wasStruck =
      strike?.worker !== undefined && (first.who === strike.worker || again.who === strike.worker)
    const wasKept = kept !== undefined && kept < Math.min(again.at, strike?.at ?? again.at)
    return wasStruck && !wasKept ? [] : [describe(first, again, strike, kept)]
  })
  if (repeats.length > slots)
    needless.push(`${repeats.length} calls were repeated, and ${slots} can be in flight`)
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

function describe(first: Ask, again: Ask, strike: Strike | undefined, kept: number | undefined): string {
  const since = (at: number) => `${at - (strike?.at ?? first.at)} ms`
  const answer = kept === undefined ? 'never kept' : `kept at ${since(kept)}`
  const struck =
    strike === undefined ? 'none was struck' : `${strike.worker ?? 'no worker'} was struck at 0 ms`
  return `${first.digest.slice(0, 8)} asked by ${first.who} at ${since(first.at)} and by ${again.who} at ${since(again.at)}, answer ${answer}; ${struck}`
}
