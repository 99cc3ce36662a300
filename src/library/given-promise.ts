/** Pending promises of user code, with the message for when they never settle. */
const awaited = new Set<{ readonly problem: string }>()

/**
 * Awaits a result of user code. A promise that never settles looks like a slow one until the process has nothing else
 * to do; then `unsettledPromises` tells what it was waiting for.
 */
export async function awaitGiven<Value>(given: Value | PromiseLike<Value>, problem: string): Promise<Value> {
  const entry = { problem }
  awaited.add(entry)
  try {
    return await given
  } finally {
    awaited.delete(entry)
  }
}

/** One sentence per pending promise, without duplicates. */
export function unsettledPromises(): string[] {
  return [...new Set([...awaited].map(({ problem }) => problem))]
}
