import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ChatModel } from '../../models/chat-model.ts'
import { openModel } from '../../models/open-model.ts'
import { simulatedModelName } from '../model/simulated-name.ts'
import { SimulatedModel } from '../model/simulator.ts'
import type { ServerSettings } from './server.ts'

export interface OpenedSimulation {
  readonly model: ChatModel
  /** The server's base URL. */
  readonly url: string
  /** Also stops the server. */
  close(): Promise<void>
}

/** The simulated model behind a server in its own thread, called over HTTP like a real endpoint. */
export async function openSimulated(settings: ServerSettings = {}): Promise<OpenedSimulation> {
  const tasks = [...(settings.tasks ?? [])]
  const { identity } = new SimulatedModel({ ...settings, tasks })
  // The compiled file has another extension.
  const file = new URL(`./server-thread${extname(import.meta.url)}`, import.meta.url)
  const thread = new Worker(file, { workerData: { ...settings, tasks } })
  const [url] = (await once(thread, 'message')) as [string]
  // A process that does not close it can still exit.
  thread.unref()
  const endpoint = openModel({ preset: 'vllm', model: simulatedModelName, baseURL: url }, {})
  return {
    model: { identity, ask: (request, signal) => endpoint.ask(request, signal) },
    url,
    async close() {
      await endpoint.close()
      thread.ref()
      const closed = once(thread, 'message')
      thread.postMessage('close')
      await closed
      await thread.terminate()
    },
  }
}
