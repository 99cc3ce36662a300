// A thread of its own for the simulated model, so that what it works out does not hold up whoever asks it.
import { parentPort, workerData } from 'node:worker_threads'
import { type ServerSettings, SimulatedServer } from './server.ts'

const server = await SimulatedServer.start(workerData as ServerSettings)
parentPort!.once('message', async () => {
  await server.close()
  parentPort!.postMessage('closed')
})
parentPort!.postMessage(server.url)
