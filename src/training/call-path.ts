import type { ExecutionEvent } from '../execution/trace/events.ts'

/** A node's predecessors and the digests of its requests. */
interface AskingNode {
  readonly node: string
  readonly predecessors: readonly string[]
  readonly asked: string[]
}

/** The calls of some executions as plain data, so that processes can exchange them. */
export interface ToldCalls {
  /** Milliseconds by the request's digest. */
  readonly made: Readonly<Record<string, number>>
  /** The nodes of each execution in the order they ended, so that predecessors come first. */
  readonly executions: readonly (readonly AskingNode[])[]
}

/**
 * A lower bound on an update's duration: the longest chain of calls that wait for each other, or all calls divided by
 * the call limit, whichever is longer. Tools, failed attempts and our own work do not count.
 */
export class CallPaths {
  /** Milliseconds of every call made. Reused replies are not listed and take no time. */
  readonly #made = new Map<string, number>()
  readonly #executions: (readonly AskingNode[])[] = []

  /** `digest` is the request's digest, prefixed with the scope of the execution's listener. */
  made(digest: string, durationMs: number): void {
    this.#made.set(digest, durationMs)
  }

  get record(): ToldCalls {
    return { made: Object.fromEntries(this.#made), executions: this.#executions }
  }

  add({ made, executions }: ToldCalls): void {
    for (const [digest, ms] of Object.entries(made)) this.#made.set(digest, ms)
    this.#executions.push(...executions)
  }

  /** Listens to one execution. Identical requests of the same scope share one reply. */
  listener(scope = ''): (event: ExecutionEvent) => void {
    const ended: AskingNode[] = []
    const nodes = new Map<string, AskingNode>()
    this.#executions.push(ended)
    return (event) => {
      if (event.type === 'execution-start')
        for (const { node, predecessors } of event.nodes) nodes.set(node, { node, predecessors, asked: [] })
      else if (event.type === 'call-end' && event.digest !== undefined)
        nodes.get(event.node)!.asked.push(scope + event.digest)
      else if (event.type === 'node-end') ended.push(nodes.get(event.node)!)
    }
  }

  /**
   * When the last call would end if every call started as soon as its first asker could make it. A shared reply
   * arrives once: a later asker, behind a longer chain, does not wait for it again. Starts depend on the ends of
   * other calls, so the times are lowered until nothing changes.
   */
  get criticalMs(): number {
    const answered = new Map<string, number>()
    for (;;) {
      let changed = false
      let longest = 0
      for (const execution of this.#executions) {
        const ends = new Map<string, number>()
        for (const { node, predecessors, asked } of execution) {
          let time = Math.max(0, ...predecessors.map((heard) => ends.get(heard) ?? 0))
          for (const digest of asked) {
            const own = time + (this.#made.get(digest) ?? 0)
            const answer = Math.min(own, answered.get(digest) ?? Number.POSITIVE_INFINITY)
            if (answer !== answered.get(digest)) changed = true
            answered.set(digest, answer)
            time = Math.max(time, answer)
          }
          ends.set(node, time)
          longest = Math.max(longest, time)
        }
      }
      if (!changed) return longest
    }
  }

  get workMs(): number {
    return [...this.#made.values()].reduce((sum, ms) => sum + ms, 0)
  }
}
