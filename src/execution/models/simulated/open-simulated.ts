import type { ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../chat-model.ts'
import { openModel } from '../open-model.ts'
import { type ServerSettings, SimulatedServer } from './server.ts'
import { simulatedModelName, simulatorVersion } from './simulator.ts'

export interface OpenedSimulation {
  readonly model: ChatModel
  readonly server: SimulatedServer
  /** Ends the server, too. */
  close(): Promise<void>
}

/** The simulated model behind a server of its own: what is run on it is what a key would run. */
export async function openSimulated(settings: ServerSettings = {}): Promise<OpenedSimulation> {
  const server = await SimulatedServer.start(settings)
  const endpoint = openModel({ preset: 'vllm', model: simulatedModelName, baseURL: server.url }, {})
  const { seed, tasks } = server.simulator
  // All that its answers depend on: those of one seed must not pass for those of another.
  const identity: ModelIdentity = {
    provider: 'simulated',
    model: simulatedModelName,
    options: { version: simulatorVersion, seed, tasks: tasks.fingerprint() },
  }
  return {
    model: { identity, ask: (request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> => endpoint.ask(request, signal) },
    server,
    async close() {
      await endpoint.close()
      await server.close()
    },
  }
}
