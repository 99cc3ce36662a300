// An OpenAI-compatible endpoint in a process of its own: the simulated model, but every call takes equally long.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { SimulatedModel } from '../../src/simulator/model/simulator.ts'
import { completionJson, readBody } from '../../src/simulator/server/wire.ts'

/** Milliseconds per call; the bench changes it between its parts. */
let latency = Number(process.argv[2])
process.on('message', (given: number) => {
  latency = given
})
process.on('disconnect', () => process.exit())

const model = new SimulatedModel()
const server = createServer(async (request, response) => {
  const start = performance.now()
  const reading = readBody(await text(request))
  if ('problem' in reading) return void response.writeHead(400).end(reading.problem)
  const body = completionJson(model.complete(reading.request), 'bench')
  if (latency > 0) await wait(Math.max(0, latency - (performance.now() - start)))
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
