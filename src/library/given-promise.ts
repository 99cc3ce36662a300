/** What is being waited for that a user's code has promised, with what to say if it never comes. */
const awaited = new Set<{ readonly problem: string }>()

/**
 * Waits for what a user's code gives. A promise that never settles cannot be told from a slow one, until the process has
 * nothing else to do: then `unsettledPromises` knows what it was waiting for.
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

/** A sentence for each thing that is still waited for, without repeating one. */
export function unsettledPromises(): string[] {
  return [...new Set([...awaited].map(({ problem }) => problem))]
}
