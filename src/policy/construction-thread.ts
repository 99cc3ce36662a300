import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AgentGraph } from '../graph/agent-graph.ts'
import type { Action } from '../graph/legality.ts'
import type { Construction } from './construction.ts'
import type { GraphBuilder } from './construction-batch.ts'
import type { ThreadData, ThreadReply } from './construction-worker.ts'
import type { ConstructionPolicy } from './policy.ts'

/**
 * Builds graphs in a thread that has a copy of the policy. The graphs are the same; the process stays free for other work,
 * which a forward pass over megabytes of weights would also push out of the processor's cache.
 */
export function constructionThread(policy: ConstructionPolicy): GraphBuilder {
  const waiting = new Map<number, PromiseWithResolvers<Construction>>()
  let next = 0
  const settle = (id: number): PromiseWithResolvers<Construction> => {
    const asked = waiting.get(id)!
    waiting.delete(id)
    // An idle thread does not keep the process alive.
    if (waiting.size === 0) worker?.unref()
    return asked
  }
  const start = (): Worker => {
    const file = new URL(`./construction-worker${extname(import.meta.url)}`, import.meta.url)
    const started = new Worker(file, { workerData: threadData(policy), resourceLimits })
    started.on('message', (reply: ThreadReply) => {
      if ('actions' in reply) settle(reply.id).resolve(replayed(reply.actions))
      else settle(reply.id).reject(reply.error)
    })
    // Whatever it was building is lost; the next order starts another thread.
    started.on('error', (error) => {
      worker = undefined
      for (const id of [...waiting.keys()]) settle(id).reject(error)
    })
    // Last: a listener for messages would take it back.
    started.unref()
    return started
  }
  let worker: Worker | undefined = start()
  return (order) => {
    worker ??= start()
    worker.ref()
    const id = next
    next += 1
    const asked = Promise.withResolvers<Construction>()
    waiting.set(id, asked)
    worker.postMessage({ id, order })
    return asked.promise
  }
}

/** Nothing that the thread allocates lives long, so a larger young generation would only take memory. */
const resourceLimits = { maxYoungGenerationSizeMb: 8 }

/** The policy without functions, which cannot be sent. */
function threadData({ options, parameters }: ConstructionPolicy): ThreadData {
  const { roles: space, ...plain } = options
  const places = [...space.roles.keys()]
  const compatible = places.map((from) => places.map((to) => space.compatible(from, to)))
  return { options: plain, roles: space.roles, compatible, parameters: parameters.read() }
}

function replayed(actions: readonly Action[]): Construction {
  let graph = AgentGraph.empty
  const steps = actions.map((action) => {
    const step = { graph, action, dropoutKeep: null }
    if (action.type === 'add') graph = graph.add(action)
    return step
  })
  return { graph, steps }
}
