// An OpenAI-compatible endpoint in its own process: the simulated model, with the same latency for every call. It shares the
// machine with the server under test, so it does as little as possible: the simulator answers each distinct request once, and
// the reply is repeated after that.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SimulatedModel } from '../../src/simulator/model/simulator.ts'
import { completionJson, readBody } from '../../src/simulator/server/wire.ts'
import { cpuMillis } from './cpu-millis.ts'
import { readCall, type ServedCall } from './critical-path.ts'

export type EndpointOrder = { readonly latency: number } | 'report'

export interface EndpointReport {
  /** By question, in the order of the replies. Reset by each report. */
  readonly calls: Readonly<Record<string, readonly ServedCall[]>>
  /** Since the last report. */
  readonly cpuMillis: number
}

interface Known {
  readonly reply: Buffer
  readonly question: string
  readonly label: string
}

/** Milliseconds per call. */
let latency = 0
let calls: Record<string, ServedCall[]> = {}
let cpuAtLastReport = 0
const known = new Map<string, Known>()
const model = new SimulatedModel()

process.on('disconnect', () => process.exit())
process.on('message', (order: EndpointOrder) => {
  if (order !== 'report') latency = order.latency
  else {
    process.send!({ calls, cpuMillis: cpuMillis() - cpuAtLastReport } satisfies EndpointReport)
    calls = {}
    cpuAtLastReport = cpuMillis()
  }
})

const server = createServer((request, response) => {
  const start = performance.now()
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    answer(response, known.get(body) ?? learn(body), start)
  })
})

function learn(body: string): Known {
  const reading = readBody(body)
  if ('problem' in reading) throw new Error(reading.problem)
  const reply = Buffer.from(completionJson(model.complete(reading.request), 'bench'))
  const made = { reply, ...readCall(reading.request.user) }
  known.set(body, made)
  return made
}

function answer(response: ServerResponse, found: Known, start: number): void {
  const ms = performance.now() - start
  // Timers may fire up to a millisecond early; a call never takes less than the latency.
  if (ms < latency) return void setTimeout(answer, latency - ms, response, found, start)
  const { reply, question, label } = found
  calls[question] ??= []
  calls[question].push({ label, ms })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
  response.end(reply)
}

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
