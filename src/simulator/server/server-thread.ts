// Runs the simulated server in its own thread, so that its work does not delay the program that calls it.
import { parentPort, workerData } from 'node:worker_threads'
import { type ServerSettings, SimulatedServer } from './server.ts'

const server = await SimulatedServer.start(workerData as ServerSettings)
parentPort!.once('message', async () => {
  await server.close()
  parentPort!.postMessage('closed')
})
parentPort!.postMessage(server.url)
