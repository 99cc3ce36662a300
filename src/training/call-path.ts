import type { ExecutionEvent } from '../execution/trace/events.ts'

/** What a node asked for, by the digests of its requests, and whom it had to hear first. */
interface AskingNode {
  readonly node: string
  readonly predecessors: readonly string[]
  readonly asked: string[]
}

/** The calls of some executions as plain data, so that they can be told from one process to another. */
export interface ToldCalls {
  /** Milliseconds by the request's digest. */
  readonly made: Readonly<Record<string, number>>
  /** Per execution its nodes in the order in which they ended, so that none comes before one that it listens to. */
  readonly executions: readonly (readonly AskingNode[])[]
}

/**
 * How short an update could have been: no shorter than the longest chain of calls that wait for each other, and no shorter
 * than all its calls divided by how many may be in flight. Tools, failed attempts and our own work do not count: it is a
 * lower bound.
 */
export class CallPaths {
  /** Milliseconds of every call that was made. What was known before is not in it and takes no time. */
  readonly #made = new Map<string, number>()
  readonly #executions: (readonly AskingNode[])[] = []

  /** `digest` is the request's, with the scope in front of it that the execution's listener was given. */
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

  /** Listens to one execution. Requests of the same scope share their answers. */
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
   * When the last call would end if every call started as soon as its first asker could make it. A shared answer arrives
   * once: a later asker, behind a longer chain, does not wait for it again. The start of a call depends on the ends of
   * others, so the times are lowered until nothing changes.
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
