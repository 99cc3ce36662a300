// The simulated server in a thread of its own, so that its work does not delay the program that asks it.
import { parentPort, workerData } from 'node:worker_threads'
import { type ServerSettings, SimulatedServer } from './server.ts'

const server = await SimulatedServer.start(workerData as ServerSettings)
parentPort!.once('message', async () => {
  await server.close()
  parentPort!.postMessage('closed')
})
parentPort!.postMessage(server.url)
