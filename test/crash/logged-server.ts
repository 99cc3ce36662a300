// node logged-server.ts LOG [SETTINGS]: the simulated model as a server in its own process. It logs every
// request with sender (the key) and time, and every answer. It prints its URL and runs until killed.
import { createHash } from 'node:crypto'
import { openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { knownTasks } from '../../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../../src/simulator/model/simulator.ts'
import { completionJson, errorJson, readBody } from '../../src/simulator/server/wire.ts'
import { tinyTaskSet } from '../tiny-task-set.ts'

export interface LoggedServerSettings {
  readonly latencyMs?: number
  /** After this many answers the key `first` is refused; others are not. */
  readonly revokeAfter?: number
  /** Answers carry the digest of their request as the model name, so that they can be matched. */
  readonly marksAnswers?: boolean
}

const [log, settings = '{}'] = process.argv.slice(2)
const {
  latencyMs = 0,
  revokeAfter = Number.POSITIVE_INFINITY,
  marksAnswers = false,
} = JSON.parse(settings) as LoggedServerSettings
const simulator = new SimulatedModel({ tasks: knownTasks(tinyTaskSet), seed: 1 })
const file = openSync(log!, 'a')
const json = { 'content-type': 'application/json' }
let answers = 0

const server = createServer(async (request, response) => {
  response.on('error', () => {})
  const body = await read(request)
  if (body === undefined) return
  const digest = createHash('sha256').update(body).digest('hex')
  if (answers >= revokeAfter && request.headers.authorization === 'Bearer first') {
    writeSync(file, `refused ${digest}\n`)
    response.writeHead(401, json).end(errorJson('The key was revoked.', 'invalid_request_error'))
    return
  }
  const who = request.headers.authorization?.replace('Bearer ', '') ?? '-'
  writeSync(file, `asked ${digest} ${who} ${Date.now()}\n`)
  const reading = readBody(body)
  if ('problem' in reading) return void response.writeHead(400, json).end()
  const completion = simulator.complete(reading.request, reading.seed)
  if (latencyMs > 0) await wait(latencyMs * (0.5 + Math.random()))
  if (response.destroyed) return
  answers += 1
  const answer = completionJson(completion, digest)
  const marked = marksAnswers ? JSON.stringify({ ...JSON.parse(answer), model: digest }) : answer
  response.writeHead(200, json).end(marked, () => {
    writeSync(file, `answered ${digest}\n`)
  })
})
server.listen(0, '127.0.0.1', () => {
  writeSync(1, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1\n`)
})

/** Undefined if the client disconnected. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch {
    return undefined
  }
  return Buffer.concat(chunks).toString('utf8')
}
